// How long a simulation takes on this machine, before it runs.
#pragma once

#include "sim/experiment/point.hpp"

namespace thinwire {

/// Wall-clock seconds, from the messages of the scheme's formula and the entries that are selected.
/// The prices were fitted to the rows of results/ (2 shared cores): half of the simulations take
/// within a factor of 2 of it, most within 5. It orders points and shares them out; where a point
/// ran before, what it took then is better.
[[nodiscard]] double estimated_wall_s(const Point& point);

}  // namespace thinwire
