// Estimates, before a simulation runs, how long it will take on this machine.
#pragma once

#include "sim/app/experiment/point.hpp"

namespace thinwire::experiment {

/// Estimates wall-clock seconds from the messages of the scheme's formula and the selected entries.
/// The prices were fitted to the rows of results/ (2 shared cores): half of 751 simulations took
/// within a factor of 2.2 of the estimate, nine in ten within 6 (packets are worst). It orders
/// points and deals them to shards; the measured time of an earlier run is better.
[[nodiscard]] double estimated_wall_s(const Point& point);

}  // namespace thinwire::experiment
