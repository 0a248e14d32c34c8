// How long a simulation takes on this machine, before it runs.
#pragma once

#include "sim/app/experiment/point.hpp"

namespace thinwire::experiment {

/// Wall-clock seconds, from the messages of the scheme's formula and the entries that are selected.
/// The prices were fitted to the rows of results/ (2 shared cores): half of 751 simulations took
/// within a factor of 2.2 of it, nine in ten within 6 (packets are worst). It orders points and
/// shares them out; where a point ran before, what it took then is better.
[[nodiscard]] double estimated_wall_s(const Point& point);

}  // namespace thinwire::experiment
