// Estimates, before a simulation runs, how long it will take on this machine.
#pragma once

#include "sim/app/plan/point.hpp"

namespace thinwire::run {

/// Estimates wall-clock seconds from the iterations that run, the messages of the scheme's formula,
/// and the selected entries or dense components. The prices were fitted to the 2294 rows of results/
/// (2 shared cores): with the messages that they counted, half of the simulations took within a
/// factor of 1.5 of the estimate, and nine in ten within 3 (packets are worst). It orders points and
/// deals them to shards; the measured time of an earlier run is better.
[[nodiscard]] double estimated_wall_s(const plan::Point& point);

/// The bytes that the gradients of a point take at least: 8 for each component that is selected, or of
/// a dense gradient with values, of all ranks that run. The largest exact rows of results/ on the α-β
/// machine took 1 to 2.5 times as much.
[[nodiscard]] double least_memory(const plan::Point& point);

}  // namespace thinwire::run
