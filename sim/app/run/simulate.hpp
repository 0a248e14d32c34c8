// Runs points in child processes, so that this process survives whatever happens there: the way in
// for all who have something simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/results/row.hpp"
#include "sim/app/run/executor.hpp"
#include "sim/app/run/join.hpp"
#include "sim/app/run/simulation.hpp"

namespace thinwire::run {

/// A request for a timeline of a run in a child process.
struct TimelineWish {
  TimelineSettings settings = {};
  /// Called at the end in the child process, also if the run fails: writes the timeline and returns
  /// a short summary of it, EndedPoint::told. Throws SimulationError if it cannot be written.
  std::function<std::string(const Timeline& timeline)> write = {};
};

/// The work of a child process that runs the point, for join(). Throws InputError for a network or
/// a shipped platform that does not exist.
[[nodiscard]] ChildWork work_of(const plan::Point& point, const SimulationSettings& settings = {},
                                const TimelineWish* timeline = nullptr);

/// Tells why points would be skipped, as a sweep does.
class Skipping {
 public:
  /// The scheme cannot run there, or the platform has fewer hosts than ranks, as far as its file tells.
  /// Empty if the point would run.
  [[nodiscard]] std::string why(const plan::Point& point);

 private:
  std::map<std::string, std::int64_t> hosts_;  ///< by platform
};

/// The machine of a point as the formulas see it: with α, β and the nodes of its platform, which a
/// child process loads. Throws InputError if it cannot be loaded or has too few hosts.
[[nodiscard]] plan::Machine machine_of(const plan::Point& point);

/// How points run; nothing of it changes a result.
struct PointSettings {
  ProcessSettings processes = {};
  bool alphabeta = true;  ///< as in SimulationSettings
  /// By point, where they are known better than estimated_wall_s tells.
  std::vector<double> expected_s = {};
  const TimelineWish* timeline = nullptr;  ///< of a single point
  /// The time in seconds, of an iteration in the mean, beyond which it need not be known how long the
  /// point takes: asked when its simulation starts. See EndedPoint::too_slow.
  std::function<double(std::size_t point)> give_up_after = {};
};

/// Who is told how points fare while they run.
struct PointWatcher {
  std::function<void(std::size_t point)> started = {};
  /// As soon as a point has ended.
  std::function<void(std::size_t point, const EndedPoint& ended)> ended = {};
  std::function<void(const JobProgress&)> progress = {};  ///< as in JobWatcher
};

/// Runs points, in the order that the settings say, each in a process of its own, and in further ones
/// where processors are to spare. Returns them in their order; `sweep` is the name in their rows.
/// Throws as run_jobs and work_of do.
std::vector<EndedPoint> run_points(const std::string& sweep, const std::vector<plan::Point>& points,
                                   const PointSettings& settings = {},
                                   const PointWatcher& watcher = {});

/// Runs points, and calls `take` with the row of each, in the order of the points and as early as
/// possible; after an interrupt, with the rows of all points that have ended before it is thrown on.
/// `progress` is called as in JobWatcher.
/// Throws as run_points does, and the InputError of a point that cannot run; of several
/// points, one with more ranks than its platform has hosts is skipped instead.
void simulate_points(const std::string& sweep, const std::vector<plan::Point>& points,
                     const ProcessSettings& settings, const std::function<void(results::Row)>& take,
                     const std::function<void(const JobProgress&)>& progress = {});
/// Runs a point. Throws as simulate_points does.
[[nodiscard]] results::Row simulate_point(const std::string& sweep, const plan::Point& point,
                                          const ProcessSettings& settings = {});

}  // namespace thinwire::run
