// A run on links: the event loop of its messages.
#pragma once

#include <span>

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/links/fabric.hpp"
#include "sim/machine/networks/links/link_recorder.hpp"

namespace thinwire::networks {

/// Runs a program on the ranks of a fabric. `bandwidths`, by link, are those available to the
/// ranks; `timeline` and `recorder` may be nullptr.
[[nodiscard]] RunReport run_on_links(int ranks, const RankProgram& program, const Fabric& fabric,
                                     std::span<const double> bandwidths, Bytes eager,
                                     Timeline* timeline, LinkRecorder* recorder);

}  // namespace thinwire::networks
