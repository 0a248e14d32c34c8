// The ranks of a point, which go through its iterations one after the other.
#pragma once

#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/results/outcome.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/app/run/tasks.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/schedule.hpp"
#include "sim/core/kernel/timeline.hpp"

namespace thinwire::run {

/// What is recorded besides an outcome.
struct Recorders {
  Timeline* timeline = nullptr;  ///< of the iterations of the point, if not null
  Schedule* schedule = nullptr;  ///< of the reported iteration, if not null

  [[nodiscard]] bool any() const { return timeline != nullptr || schedule != nullptr; }
};

class IterationRun {
 public:
  /// Both outlive it. Throws InputError if the point cannot run.
  IterationRun(const Part& part, const plan::Machine& machine);

  /// Takes the ranks, on the counting network, through the iterations before `at` that they have not
  /// gone through and that others may depend on. What they keep of them does not depend on times.
  void pass_before(std::size_t at);
  /// Simulates the iteration `at` of the part; the outcome is the same as of a run of this iteration alone.
  [[nodiscard]] results::Outcome simulate(Network& network, std::size_t at,
                                          const Recorders& recorders = {});

 private:
  RunReport run(Network& network, int iteration, Schedule* schedule);
  void end_iteration(results::Outcome& outcome);

  const Part& part_;
  const plan::Point& point_;
  const plan::Machine& machine_;
  PointRanks of_point_;
  std::vector<RankState> ranks_;
  std::size_t passed_ = 0;  ///< iterations of the part that the ranks have gone through
};

}  // namespace thinwire::run
