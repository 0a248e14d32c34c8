// Which points few ranks cannot stand for (docs/representatives.md).
#pragma once

#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/experiment/point.hpp"

namespace thinwire::experiment {

/// Throws InputError, which begins with `origin`, if the point has representatives that cannot stand
/// for all its ranks. What the platform says is checked when it is run (links/symmetry.hpp).
void check_representatives(const Point& point, const algorithms::SchemeInfo& scheme,
                           const std::string& origin);

}  // namespace thinwire::experiment
