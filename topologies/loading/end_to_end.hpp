// The LogGP machine that a platform is when nobody else sends.
#pragma once

#include <span>

#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// The times of a message that travels alone, as means over pairs of ranks.
struct EndToEnd {
  Seconds alpha;          ///< latency of the route, and the message gap
  Seconds latency;        ///< of the route alone: LogGP's L
  Seconds beta_per_word;  ///< 4 bytes over the smallest bandwidth on the route
};

/// Over all ordered pairs of ranks on different hosts where these are few, else over 65,536 of them
/// that are the same each time. `hosts` is indexed by rank. Zeros where there is no pair. Throws
/// InputError where two of the ranks have no route, or one with a link that carries nothing.
[[nodiscard]] EndToEnd end_to_end(const Platform& platform, std::span<const HostIndex> hosts);

}  // namespace thinwire::topologies
