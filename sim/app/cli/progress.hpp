// What a sweep tells while it runs.
#pragma once

#include <chrono>
#include <string>

#include "sim/app/experiment/sweep.hpp"

namespace thinwire::cli {

/// On stderr: one bar on a terminal, a line a point elsewhere.
class ProgressDisplay {
 public:
  ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ProgressDisplay(ProgressDisplay&&) = delete;
  ProgressDisplay& operator=(ProgressDisplay&&) = delete;
  ~ProgressDisplay();  // takes the bar away

  void show(const experiment::SweepProgress& progress);

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point drawn_;
  std::string last_;  ///< the point that ended last
};

/// "0:07", "12:30", "3:05:00".
[[nodiscard]] std::string duration_text(double seconds);
/// The bar's line, without the point that ended last: as much as fits into `columns`.
[[nodiscard]] std::string bar_text(const experiment::SweepProgress& progress, int columns);

}  // namespace thinwire::cli
