// Whether few ranks can stand for all on a platform.
#pragma once

#include <span>

#include "sim/machine/networks/links/fabric.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// Compares patterns of messages between all ranks with the patterns between the ranks that run. In a
/// pattern all ranks send at once, to the rank at the same distance or to the one whose number differs
/// in the same bit. Throws
/// InputError if the busiest links or the longest latencies of a shift by a few ranks or of a flipped
/// bit differ by more than 5%, or if the mean busiest links or the mean latencies of shifts by random
/// distances do. Where the platform has groups of hosts, as a dragonfly, the longest latencies may
/// differ by 25%. A link that messages do not share counts by the time of
/// one. `hosts` is indexed by rank, and `fabric` carries the ranks.
void check_symmetric(const topologies::Platform& platform,
                     std::span<const topologies::HostIndex> hosts, const Fabric& fabric,
                     const LinksSettings& settings);

}  // namespace thinwire::networks
