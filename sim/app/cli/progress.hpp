// Displays the progress of a sweep.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sim/app/run/sweep.hpp"

namespace thinwire::cli {

/// Writes to stderr: a single bar on a terminal, otherwise one line per point.
class ProgressDisplay {
 public:
  ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ~ProgressDisplay();  // erases the bar

  void show(const run::SweepProgress& progress);

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point drawn_;
  std::string last_;  ///< the most recently ended point
};

/// "0:07", "12:30", "3:05:00".
[[nodiscard]] std::string duration_text(double seconds);
/// The line of the bar, without the last point, cut to fit into `columns`.
[[nodiscard]] std::string bar_text(const run::SweepProgress& progress, int columns);

/// Runs points, and shows on a terminal how many of the `what` have ended. Throws as run_points() does.
[[nodiscard]] std::vector<results::Row> run_shown(const std::string& what,
                                                  const std::vector<plan::Point>& points, int jobs);

}  // namespace thinwire::cli
