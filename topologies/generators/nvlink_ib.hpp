// Nodes of GPUs behind a switch of their own (NVSwitch, or PCIe), and InfiniBand (or Ethernet)
// between the nodes: leaves, and above them a core that spreads perfectly. Every GPU is a host.
//
// With one NIC a node, all its GPUs share it. With several, GPU g uses NIC g * nics / gpus,
// wherever the message goes; on rails, leaf r holds NIC r of every node, else a leaf holds all NICs
// of its nodes. SimGrid takes one shortest route: GPUs do not forward for one another, and there is
// no choice among the NICs.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct NvlinkIbParameters {
  int nodes = 64;
  int gpus = 8;                 ///< of a node
  int nics = 8;                 ///< of a node; divides gpus
  bool rails = true;            ///< leaf r for NIC r, not leaves for nodes
  int leaf_nodes = 32;          ///< nodes with cables to one leaf
  double oversubscription = 1;  ///< of a leaf: bandwidth from below over bandwidth to the core
  LinkFigures gpu{300e9, Seconds(85e-9)};  ///< a GPU's link to the switch of its node
  LinkFigures nic{25e9,
                  Seconds(1.085e-6)};  ///< from a GPU, or with one NIC from that switch, to a leaf
  Seconds uplink_latency{0.115e-6};    ///< of a leaf's link to the core
  Seconds message_gap{0.3e-6};
};

/// Hosts gpu-0, gpu-1 ..., those of a node next to each other, each with its property
/// thinwire.node. Throws InputError for parameters that make no platform.
[[nodiscard]] std::string nvlink_ib_xml(const NvlinkIbParameters& parameters,
                                        const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& nvlink_ib_parameters();
/// "hosts" takes the least number of nodes that hold so many GPUs.
[[nodiscard]] std::string nvlink_ib_xml(const Settings& settings,
                                        const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
