// GPU nodes with an internal switch (NVSwitch, or PCIe), connected by InfiniBand (or Ethernet):
// leaves, and above them an ideal core that spreads perfectly. Every GPU is a host.
//
// With one NIC per node, all its GPUs share it. With several, GPU g uses NIC g * nics / gpus for
// every destination; with rails, leaf r holds NIC r of every node, otherwise a leaf holds all NICs
// of its nodes. SimGrid takes one shortest route: GPUs do not forward for one another, and there is
// no choice among the NICs.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/reducing.hpp"
#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct NvlinkIbParameters {
  int nodes = 64;
  int gpus = 8;                            ///< per node
  int nics = 8;                            ///< per node; divides gpus
  bool rails = true;                       ///< one leaf per NIC r instead of leaves per node
  int leaf_nodes = 32;                     ///< nodes cabled to one leaf
  double oversubscription = 1;             ///< of a leaf: downward over upward bandwidth
  LinkFigures gpu{300e9, Seconds(85e-9)};  ///< from a GPU to the switch of its node
  LinkFigures nic{25e9,
                  Seconds(1.085e-6)};  ///< to a leaf from a GPU, or with one NIC from that switch
  Seconds uplink_latency{0.115e-6};    ///< of the link from a leaf to the core
  Seconds message_gap{0.3e-6};
  ReducingFigures reducing = {};  ///< its switches that sum
};

/// Numbers hosts gpu-0, gpu-1, ... node by node; each has the property thinwire.node. Throws
/// InputError for parameters that define no platform.
[[nodiscard]] std::string nvlink_ib_xml(const NvlinkIbParameters& parameters,
                                        const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& nvlink_ib_parameters();
/// "hosts" selects the smallest sufficient number of nodes.
[[nodiscard]] std::string nvlink_ib_xml(const Settings& settings,
                                        const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
