// Simulates one point, in this process and, where it may, in others beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/results/outcome.hpp"
#include "sim/app/run/iterations.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/app/run/tasks.hpp"
#include "sim/core/kernel/schedule.hpp"
#include "sim/core/kernel/timeline.hpp"

namespace thinwire::run {

/// The content of a timeline.
struct TimelineSettings {
  std::vector<Rank> ranks = {};  ///< ranks that the point does not have are refused
  bool last = true;              ///< also the rank that ends last in the reported iteration
  std::size_t most_events = 1'000'000;
};

/// How to run a point; the settings do not change any result.
struct SimulationSettings {
  bool verbose = false;   ///< print SimGrid's log on stderr
  bool alphabeta = true;  ///< find Outcome::alphabeta_time, if flows share links
  /// With more than one, as many tasks run at once, each in a child process, while this process
  /// takes the ranks from one iteration to the next on the counting network. On smpi, and with a
  /// timeline or a schedule, only the α-β machine has a process of its own.
  int processes = 1;
  /// The time in seconds, of an iteration in the mean, beyond which the simulation may end with
  /// TooSlowError. It is asked in the process of the simulation; with few chunks that stand for all,
  /// and with several processes, nothing ends.
  std::function<double()> give_up_after = {};
  /// Called after each iteration that this process simulates on the point's network, for benchmarks.
  std::function<void(int iteration)> after_iteration = {};
};

/// A point that is ready to run: its network is constructed and its platform is loaded.
class Simulation {
 public:
  /// Throws InputError if the network or the platform cannot be set up.
  explicit Simulation(const plan::Point& point, SimulationSettings settings = {});
  /// Throws SimulationError if the run fails.
  [[nodiscard]] results::Outcome run();
  /// Also records the events in timeline(). The rank that ends last is known only at the end: if it
  /// is requested and not among the others, the point runs twice, and the second run is recorded.
  /// Throws InputError for a rank that does not exist, and on a network without a clock.
  [[nodiscard]] results::Outcome run(const TimelineSettings& settings);
  /// Also records what the ranks do in the reported iteration. Messages of second strands get tags
  /// of their own (separate_strands).
  [[nodiscard]] results::Outcome run(Schedule& schedule);
  /// The timeline of the recorded run, as far as it got; nullptr before.
  [[nodiscard]] const Timeline* timeline() const { return timeline_.get(); }

 private:
  results::Outcome run(const Recorders& recorders, Wanted wanted);

  plan::Point point_;
  SimulationSettings settings_;
  ReadyNetwork ready_;
  std::unique_ptr<Timeline> timeline_;
};

/// Throws InputError if no timeline can be recorded for the point.
void check_timeline(const plan::Point& point, const TimelineSettings& settings);

}  // namespace thinwire::run
