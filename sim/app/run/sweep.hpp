// A sweep runs every combination of the values of a grid, except those that it excludes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/results/results_file.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/shipped_files.hpp"

namespace thinwire::run {

struct Sweep {
  std::string name;
  std::string description;
  /// In the order of the grid, its last key fastest; none that runs as one before it does.
  std::vector<plan::Point> points;
  std::size_t repeated = 0;  ///< points of the grid that were left out for that
};

inline constexpr ShippedFiles kSweeps{
    .what = "sweep", .extension = ".json", .in_source = "sweeps", .in_share = "sweeps"};

/// Throws InputError with the JSON pointer of the error; every point is checked.
[[nodiscard]] Sweep sweep_from(const Json& config, const std::string& origin);

/// Part `index` of `of` parts of a sweep, for N machines.
struct Shard {
  int index = 1;  ///< from 1
  int of = 1;
};

struct SweepOptions {
  int jobs = 1;             ///< points that run at once, each in its own process
  bool force = false;       ///< also run points that the results already hold
  ChildLimits limits = {};  ///< per point; a point that exceeds them fails
  Shard shard = {};
};

/// A point of a sweep, before it runs.
struct PlannedPoint {
  std::size_t index;                  ///< index in Sweep::points
  std::optional<results::Row> known;  ///< the row that the results already hold
  double expected_s;                  ///< measured time of an earlier run, else estimated_wall_s
  bool took_before = false;           ///< expected_s was measured
};

/// The points of the shard, in grid order. Points are dealt to shards by their estimates, so that
/// all shards take about equally long; each point is in exactly one.
[[nodiscard]] std::vector<PlannedPoint> plan_sweep(const Sweep& sweep,
                                                   const std::vector<results::Row>& before,
                                                   const SweepOptions& options);

/// Throws InputError unless all rows, of this file, are of the sweep.
void check_is_of(const Sweep& sweep, const std::vector<results::Row>& rows,
                 const std::string& path);

struct SweepProgress {
  std::size_t done = 0;  ///< including failed ones
  std::size_t running = 0;
  std::size_t failed = 0;
  std::size_t reused = 0;  ///< points that the results already held
  std::size_t total = 0;
  double left_s = 0;                    ///< estimated wall-clock time
  const results::Row* ended = nullptr;  ///< the point that just ended; null in between
};

/// Runs the points that `path` does not hold yet, the longest first, adds each to the file as it
/// ends, and returns all rows in grid order. Nothing is removed from the file before the sweep is
/// complete; then rows whose points were run anew are removed. Calls `progress` when a point ends
/// and about ten times per second. Before the first point runs, throws InputError if `path` cannot
/// be written or holds the rows of another sweep; later, InterruptedError after Ctrl-C or SIGTERM
/// and SimulationError if the file can no longer be written.
[[nodiscard]] std::vector<results::Row> run_sweep(
    const Sweep& sweep, const std::string& path, const SweepOptions& options,
    const std::function<void(const SweepProgress&)>& progress);

/// The rows of several results files of one sweep. Throws InputError where they are of different
/// sweeps.
[[nodiscard]] results::UniqueRows merge_rows(const std::vector<std::string>& paths);

}  // namespace thinwire::run
