// Which points few ranks cannot stand for (docs/representatives.md).
#pragma once

#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"

namespace thinwire::plan {

/// Throws InputError, which begins with `origin`, if the point has representatives that cannot stand
/// for all its ranks. What the platform says is checked when it is run (links/symmetry.hpp).
void check_representatives(const Point& point, const algorithms::SchemeInfo& scheme,
                           const std::string& origin);
/// The same once the ranks of a node are known (SchemeSetup::node), for schemes that add in nodes.
void check_whole_nodes(const Point& point, const algorithms::SchemeInfo& scheme,
                       const algorithms::Options& options, int known_node);
/// Whether few ranks stand for all of a scheme that gathers unequal parts for most of its time, or
/// adds them in nodes, or fewer than 64 for one that sends them. The error is then larger than of
/// others (docs/representatives.md).
[[nodiscard]] bool represents_unequal_parts(const Point& point);

/// Throws InputError, which begins with `origin`, if the point asks for an extrapolation that its
/// scheme or its other settings do not allow.
void check_extrapolation(const Point& point, const algorithms::SchemeInfo& scheme,
                         const std::string& origin);

}  // namespace thinwire::plan
