// The route between two hosts, in few bytes: see compact_routes.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::topologies {

/// A host that ranks are on: an index in CompactRoutes' own list of distinct hosts.
using SiteIndex = std::uint32_t;

/// The links from one site to another: the first one (a port of the sender), the inner links, and the
/// last one (a port of the receiver). A route of fewer than two links has no ports.
struct CompactRoute {
  static constexpr std::uint8_t kNoPort = 15;

  std::uint32_t head = 0;           ///< where the first half of the inner links begins
  std::uint32_t tail = 0;           ///< where the rest of it begins
  std::uint8_t hops = 0;            ///< inner links
  std::uint8_t up : 4 = kNoPort;    ///< index in the sender's up_ports(), or kNoPort
  std::uint8_t down : 4 = kNoPort;  ///< index in the receiver's down_ports(), or kNoPort
  std::uint16_t kind = 0;           ///< index in kinds()
};
static_assert(sizeof(CompactRoute) == 12);  // there are millions

/// What many routes have in common.
struct RouteKind {
  double bandwidth;  ///< the smallest of the whole route, in bytes a second
  double latency;    ///< of the inner links, and of the distance in a Vivaldi zone, in seconds
};

/// The number of links in the first half of the inner links.
[[nodiscard]] constexpr std::size_t first_half(std::size_t hops) { return (hops + 1) / 2; }

}  // namespace thinwire::topologies
