// How a message goes from host to host, in few bytes: see compact_routes.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::topologies {

/// A host that ranks are on: an index in CompactRoutes' own list of distinct hosts.
using SiteIndex = std::uint32_t;

/// How a message goes from one site to another: its first link (a port of the sender), links in the
/// middle, its last link (a port of the receiver). A route of fewer than two links has no ports.
struct Way {
  static constexpr std::uint8_t kNoPort = 15;

  std::uint32_t head = 0;           ///< where the first half of the middle begins
  std::uint32_t tail = 0;           ///< where the rest of it begins
  std::uint8_t hops = 0;            ///< links of the middle
  std::uint8_t up : 4 = kNoPort;    ///< index in the sender's up_ports(), or kNoPort
  std::uint8_t down : 4 = kNoPort;  ///< index in the receiver's down_ports(), or kNoPort
  std::uint16_t kind = 0;           ///< index in kinds()
};
static_assert(sizeof(Way) == 12);  // there are millions

/// What many ways have in common.
struct WayKind {
  double bandwidth;  ///< the smallest of the whole route, in bytes a second
  double latency;    ///< of the middle's links, and of the distance in a Vivaldi zone, in seconds
};

/// The number of links in the first half of a middle.
[[nodiscard]] constexpr std::size_t first_half(std::size_t hops) { return (hops + 1) / 2; }

}  // namespace thinwire::topologies
