// Few ranks or chunks that stand for all: which points allow it (docs/explanation/approximate.md).
#pragma once

#include <optional>
#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/machine/networks/common/approximate/few_ranks.hpp"

namespace thinwire::plan {

/// The ranks that stand for all; nothing if all run.
[[nodiscard]] std::optional<networks::FewRanks> few_ranks_of(const Point& point);
/// Throws InputError, which begins with `origin`, if the point has ranks or chunks that cannot
/// stand for all. What the platform says is checked when it is run (links/symmetry.hpp).
void check_approximation(const Point& point, const std::string& origin);
/// The same once the ranks of a node are known (SchemeSetup::node), for schemes that add in nodes.
void check_whole_nodes(const Point& point, const algorithms::Options& options, int known_node);
/// Whether few ranks stand for all of a scheme that gathers unequal parts for most of its time, or
/// adds them in nodes, or fewer than 64 for one that sends them. The error is then larger
/// than for other schemes (docs/explanation/approximate.md).
[[nodiscard]] bool represents_unequal_parts(const Point& point);
/// The largest error that was seen of approximations like the point's, as a share of the time
/// (docs/explanation/approximate.md): 3% with few ranks, 5% with few chunks, and 25% where ranks share
/// parts that are not equal, or fewer than 64 select different numbers (`uneven`).
[[nodiscard]] double approximation_error(const Point& point, bool uneven);

}  // namespace thinwire::plan
