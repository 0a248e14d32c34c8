// What the formulas tell of candidates before they are simulated.
#pragma once

#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"

namespace thinwire::studies {

struct ForecastCandidate {
  std::string scheme;
  double time_s = 0;  ///< of an iteration: computing, and after it the formula of the allreduce
  double wall_s = 0;  ///< about how long the simulation takes
};

struct Forecast {
  std::vector<ForecastCandidate> candidates;  ///< by time
  plan::Machine machine;
  int jobs = 1;  ///< simulations at once

  /// About how long all simulations take, if none ends early.
  [[nodiscard]] double wall_s() const;
};

/// The iteration of a point in seconds by the formula of its scheme, in the middle of an interval.
/// It leaves out selection, and what an allreduce does during the backward pass.
[[nodiscard]] double formula_time(const plan::Point& point, const plan::Machine& machine);

/// What a point computes before its allreduce can begin, in seconds.
[[nodiscard]] double time_before_sums(const plan::Point& point);

}  // namespace thinwire::studies
