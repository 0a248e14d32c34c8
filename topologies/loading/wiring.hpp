// Topologies for which SimGrid 3.32 has no zone: dragonflies whose cables between groups end on many
// switches, Dragonfly+, nodes of GPUs on rails, and tori with ports of hosts and cables of their own
// in each dimension. See docs/decisions/0022-spread-cables.md.
//
// The platform is one plain cluster, whose links are the ports of the hosts, and a property of the
// outermost zone that says how the switches are wired:
//
//   <prop id="thinwire.topology" value="dragonfly groups=14 chassis=6 routers=16 nodes=4 cables=73"/>
//
//   dragonfly       groups x chassis x routers x nodes. Links green- between the routers of a
//                   chassis, black- between routers at the same place in two chassis of a group,
//                   and `cables` links blue- between any two groups
//   dragonfly_plus  cells x leaves x nodes, and `spines` spine switches in each cell. Links uplink-
//                   from every leaf to every spine of its cell, and `cables` links global- between
//                   the spines of any two cells
//   rails           islands x nodes x gpus. NIC r of every node of an island is on the island's
//                   switch r. Links nvlink- from a GPU to the switch of its node, and uplink- from a
//                   switch of an island to the core
//   torus           x, y, z, a, b, c: the hosts of each dimension, 1 where there is none. Links x- to
//                   c- from every host to the next one of its ring; a ring of two has one
//
// In all of them, the last of the hosts' numbers varies fastest. Bandwidth and latency of each kind
// of link are in the property thinwire.link.KIND (platform.hpp).
//
// Cables between two groups are spread: cable c of group a to its p-th other group ends on switch
// (p cables + c) mod S of the S routers or spines of a. Plugged in one after another, switch by
// switch, no switch of a group has two cables more than any other.
//
// Routes are minimal and fixed: between two groups they cross one cable. In a dragonfly the router
// of the source chooses it. A router on which cables to the other group end uses its own: of several,
// a hash of the two routers chooses one, and where there are few routers some stay idle. The other
// routers share all cables evenly. Within a group a route goes green before black. In a Dragonfly+
// and its cells, the number of the destination in its cell modulo the spines or the cables chooses
// (D-mod-k, as in SimGrid's fat trees). On rails, GPUs of one node use NVLink; a message between
// nodes enters on the sender's rail, and changes rails in the core. In a torus a route goes through
// one dimension after the other, the last first, the shorter way around, and forwards where both are
// as long.
#pragma once

#include <simgrid/forward.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace thinwire::topologies {

/// Where a host is in a wired platform.
struct WiredHost {
  std::string node;          ///< empty where the host is a node of its own
  std::uint32_t group = 0;   ///< of the platform: a group, cell or island
  std::uint32_t access = 0;  ///< of the group: the switch at the host's port; 0 on rails
};

/// A link that SimGrid does not know. One of SimGrid's takes a kilobyte, and a platform of 100,000
/// hosts has millions.
struct WiredLink {
  std::string name;
  double bandwidth = 1;  ///< bytes a second
  double latency = 0;    ///< seconds
};

/// How the routes of SimGrid's interface hold such a link: SimGrid hands on what they hold, and looks
/// at it only when it simulates flows.
[[nodiscard]] inline simgrid::kernel::resource::StandardLinkImpl* held_by_routes(WiredLink& link) {
  return static_cast<simgrid::kernel::resource::StandardLinkImpl*>(static_cast<void*>(&link));
}

/// The hosts of a wired platform, with their places, and its links unless they are SimGrid's.
struct Wired {
  std::unordered_map<const simgrid::s4u::Host*, WiredHost> hosts;
  std::vector<WiredLink> links;
};

/// Who makes the links of a wired platform.
enum class WiredLinks : std::uint8_t { ours, simgrid };

/// Wires the hosts of a platform as `topology` says: makes the links, whose bandwidths and latencies
/// are still to be set, and moves the hosts to a zone that routes over them. To be called when the
/// XML is loaded and the platform is not yet sealed. Throws InputError naming `path` if the text is
/// no topology, if the platform is not one plain cluster of as many hosts, or if a kind of link has
/// no figures in the properties of the outermost zone.
[[nodiscard]] Wired wire(simgrid::s4u::Engine& engine, const std::string& path,
                         const std::string& topology, WiredLinks links);

}  // namespace thinwire::topologies
