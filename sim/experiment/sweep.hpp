// A sweep: every combination of the values of a grid.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/experiment/row.hpp"

namespace thinwire {

struct Sweep {
  std::string name;
  std::string description;
  std::vector<Point> points;  ///< in the order of the grid, its last key fastest
};

/// Names of the sweeps that come with Thinwire, sorted.
[[nodiscard]] std::vector<std::string> shipped_sweeps();
/// The file of a shipped sweep by its name; a path comes back as it is. Throws InputError with the
/// nearest name.
[[nodiscard]] std::string sweep_file(const std::string& name_or_path);

/// Throws InputError with the JSON pointer of what is wrong; every point is checked.
[[nodiscard]] Sweep sweep_from(const Json& config, const std::string& origin);

struct SweepProgress {
  std::size_t done;
  std::size_t total;
  const Row& row;
  bool reused;  ///< it was in the results already
};

/// Runs the points that `path` does not hold yet, appending each as it ends, and returns all rows
/// in the order of the points. `force` runs all of them anew. Nothing is removed from the file
/// before the sweep is complete; then a row goes whose point a new one repeats. Before the first
/// point runs, throws InputError where `path` cannot be written or holds the rows of another sweep.
[[nodiscard]] std::vector<Row> run_sweep(const Sweep& sweep, const std::string& path, bool force,
                                         const std::function<void(const SweepProgress&)>& progress);

}  // namespace thinwire
