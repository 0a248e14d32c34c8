// Joins what was found out about a point: the outcomes of its tasks into its outcome, and what its
// process said into its row.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "sim/app/results/outcome.hpp"
#include "sim/app/results/row.hpp"
#include "sim/app/run/tasks.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::run {

/// What is said with errors of packets.
inline constexpr const char* kPacketsHint =
    "(ns-3 takes one zone of hosts with one link each to their switch, as gige_star has)";

/// The outcome of a point, made from its tasks' outcomes: by task, one outcome per iteration.
[[nodiscard]] results::Outcome join(const plan::Point& point, const Tasks& tasks,
                                    const std::vector<std::vector<results::Outcome>>& outcomes);

/// A point that has run, or could not.
struct EndedPoint {
  results::Row row;
  /// An InputError: the point cannot run, for example because its platform cannot be loaded. Then
  /// the row has failed for this reason, or is skipped if the platform has too few hosts.
  std::exception_ptr refused = {};
  std::string told = {};  ///< by TimelineWish::write
  /// It takes longer than PointSettings::give_up_after; the row is skipped for this reason.
  bool too_slow = false;
};

/// The key of the text by which the process of a point says that it gave up.
inline constexpr const char* kTooSlow = "too_slow";

/// `process`: the one that has run the point; null where the scheme cannot run there.
[[nodiscard]] EndedPoint join(const std::string& sweep, const plan::Point& point,
                              const ChildProcess* process);

}  // namespace thinwire::run
