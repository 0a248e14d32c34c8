// Whether few ranks can stand for all on a platform.
#pragma once

#include <span>

#include "sim/machine/networks/links/fabric.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// Compares patterns of messages, in which all ranks send at once to the rank at the same distance
/// or to the one whose number differs in the same bit, with those of the ranks that run. Throws
/// InputError if the busiest links of a shift by a few ranks or of a flipped bit differ by more than
/// 5% or the longest latencies by more than 25%, or if the mean busiest links or the mean latencies
/// of shifts by random distances differ by more than 5%. `hosts` is indexed by rank, and `fabric` is
/// that of the ranks.
void check_symmetric(const topologies::Platform& platform,
                     std::span<const topologies::HostIndex> hosts, const Fabric& fabric,
                     const LinksSettings& settings);

}  // namespace thinwire::networks
