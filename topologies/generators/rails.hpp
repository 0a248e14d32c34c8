// Nodes of GPUs on rails: NIC r of every node of an island is on the island's switch r, and the
// switches of all islands are joined by a core. The same machine as nvlink_ib with wiring rails and
// a NIC for each GPU, without a line of XML for each GPU: for thousands of nodes.
//
// A switch stands for the fat tree of one rail of an island, which is taken not to block. The core
// never blocks: its bandwidth is that of the uplinks.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/reducing.hpp"
#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct RailsParameters {
  int islands = 7;
  int nodes = 160;              ///< of an island
  int gpus = 4;                 ///< of a node, each with a NIC of its own
  double oversubscription = 2;  ///< of a switch: bandwidth from its nodes over that to the core
  LinkFigures gpu{450e9, Seconds(85e-9)};
  LinkFigures nic{25e9, Seconds(1.085e-6)};
  Seconds uplink_latency{115e-9};
  Seconds message_gap{0.3e-6};
  ReducingFigures reducing = {};  ///< its switches that sum
};

/// Numbers hosts gpu-0, gpu-1, ... node by node, island by island. Throws InputError for parameters
/// that define no platform.
[[nodiscard]] std::string rails_xml(const RailsParameters& parameters,
                                    const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& rails_parameters();
/// "hosts" selects the smallest sufficient number of islands.
[[nodiscard]] std::string rails_xml(const Settings& settings,
                                    const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
