// Runs a point in a child process, so that this process survives whatever happens there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/results/row.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::run {

/// A request for a timeline of a run in a child process.
struct TimelineWish {
  TimelineSettings settings = {};
  /// Called at the end in the child process, also if the run fails: writes the timeline and returns
  /// a short summary of it. Throws SimulationError if it cannot be written.
  std::function<std::string(const Timeline& timeline)> write = {};
  std::string told = {};  ///< the summary, if the run did not fail
};

/// The work of a child process that runs the point; nothing if the scheme cannot run there
/// (restriction_of). Throws InputError for a network or a shipped platform that does not exist.
[[nodiscard]] std::optional<ChildWork> work_of(const plan::Point& point,
                                               const SimulationSettings& settings = {},
                                               const TimelineWish* timeline = nullptr);
/// The row of a point whose child has ended; `child` is null if work_of returned no work.
/// InputError passes through (for example, a platform that cannot be loaded).
[[nodiscard]] results::Row row_of(const std::string& sweep, const plan::Point& point,
                                  const ChildProcess* child, TimelineWish* timeline = nullptr);
/// The row of one of several points, as row_of: one with more ranks than its platform has hosts is
/// skipped, since the others may have places.
[[nodiscard]] results::Row row_of_several(const std::string& sweep, const plan::Point& point,
                                          const ChildProcess* child);
/// How to simulate points in child processes; nothing of it changes a result.
struct ProcessSettings {
  int at_once = 1;          ///< processes: points, or iterations of a point (SimulationSettings)
  bool verbose = false;     ///< let SimGrid's log through to stderr
  ChildLimits limits = {};  ///< of a process
};

/// Simulates a point and waits for it. Throws as work_of and row_of do.
[[nodiscard]] results::Row simulate_point(const std::string& sweep, const plan::Point& point,
                                          const ProcessSettings& settings = {},
                                          TimelineWish* timeline = nullptr);
/// Simulates points, several at once, and calls `take` with the row of each, in the order of the
/// points and as early as possible. Throws as work_of and row_of do; of several points, one with
/// more ranks than its platform has hosts is skipped instead.
void simulate_points(const std::string& sweep, const std::vector<plan::Point>& points,
                     const ProcessSettings& settings,
                     const std::function<void(results::Row)>& take);

}  // namespace thinwire::run
