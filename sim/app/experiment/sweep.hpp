// A sweep: every combination of the values of a grid, but for those that it leaves out.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/results_file.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::experiment {

struct Sweep {
  std::string name;
  std::string description;
  std::vector<Point> points;  ///< in the order of the grid, its last key fastest; none twice
  std::size_t repeated = 0;   ///< points of the grid that were left out since they came before
};

/// Names of the sweeps that come with Thinwire, sorted.
[[nodiscard]] std::vector<std::string> shipped_sweeps();
/// The file of a shipped sweep by its name; a path comes back as it is. Throws InputError with the
/// nearest name.
[[nodiscard]] std::string sweep_file(const std::string& name_or_path);

/// Throws InputError with the JSON pointer of what is wrong; every point is checked.
[[nodiscard]] Sweep sweep_from(const Json& config, const std::string& origin);

/// The I-th of N parts of a sweep, for N machines.
struct Shard {
  int index = 1;  ///< from 1
  int of = 1;
};

struct SweepOptions {
  int jobs = 1;             ///< points that run at once, each in a process of its own
  bool force = false;       ///< run also what the results hold already
  ChildLimits limits = {};  ///< of each point; beyond them it failed
  Shard shard = {};
};

/// A point of a sweep, before it runs.
struct PlannedPoint {
  std::size_t index;         ///< in Sweep::points
  std::optional<Row> known;  ///< the results hold it already
  double expected_s;         ///< what it takes: what it took before, or estimated_wall_s
  bool took_before = false;  ///< expected_s was measured
};

/// The points of the shard, in the order of the grid. Points are dealt to shards by their
/// estimates, so that all take about as long; each is in exactly one.
[[nodiscard]] std::vector<PlannedPoint> plan_sweep(const Sweep& sweep,
                                                   const std::vector<Row>& before,
                                                   const SweepOptions& options);

struct SweepProgress {
  std::size_t done;  ///< failed ones too
  std::size_t running;
  std::size_t failed;
  std::size_t reused;  ///< they were in the results already
  std::size_t total;
  double left_s;     ///< of wall-clock time; an estimate
  const Row* ended;  ///< the point that just ended; null in between
};

/// Runs the points that `path` does not hold yet, the longest first, adding each to the file as it
/// ends, and returns all rows in the order of the grid. Nothing is removed from the file before the
/// sweep is complete; then a row goes whose point a new one repeats. `progress` is told when a
/// point ends, and about ten times a second. Before the first point runs, throws InputError where
/// `path` cannot be written or holds the rows of another sweep; InterruptedError after Ctrl-C or
/// SIGTERM; SimulationError where the file cannot be written any more.
[[nodiscard]] std::vector<Row> run_sweep(const Sweep& sweep, const std::string& path,
                                         const SweepOptions& options,
                                         const std::function<void(const SweepProgress&)>& progress);

/// The rows of several results files of one sweep. Throws InputError where they are of different
/// sweeps.
[[nodiscard]] UniqueRows merge_rows(const std::vector<std::string>& paths);

}  // namespace thinwire::experiment
