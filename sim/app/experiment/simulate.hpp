// A point that runs in a child process: whatever happens there, this process goes on.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/app/experiment/row.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::experiment {

/// A timeline of a run in a child process.
struct TimelineWish {
  TimelineSettings settings = {};
  /// Called in the child process at the end, also of a run that fails: writes the timeline, and
  /// tells in a few words what is in it. Throws SimulationError where it cannot.
  std::function<std::string(const Timeline& timeline)> write = {};
  std::string told = {};  ///< what it told, of a run that did not fail
};

/// What a child process has to do to run a point; nothing where the scheme cannot run there
/// (restriction_of). Throws InputError for a network or a shipped platform that there is not.
[[nodiscard]] std::optional<ChildWork> work_of(const Point& point,
                                               const SimulationSettings& settings = {},
                                               const TimelineWish* timeline = nullptr);
/// What became of a point whose child has ended; `child` is null where work_of gives no work.
/// InputError passes through (a platform that cannot be loaded, say).
[[nodiscard]] Row row_of(const std::string& sweep, const Point& point, const ChildProcess* child,
                         TimelineWish* timeline = nullptr);
/// Runs a point in a child process, beside it on the α-β machine where links are shared, and waits
/// for both. Throws as work_of and row_of do.
[[nodiscard]] Row simulate_point(const std::string& sweep, const Point& point, bool verbose = false,
                                 TimelineWish* timeline = nullptr, const ChildLimits& limits = {});

}  // namespace thinwire::experiment
