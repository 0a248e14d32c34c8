// Simulates one point, in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/point.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/workloads/iteration.hpp"

namespace thinwire::experiment {

/// What one phase of the reported iteration cost the rank that it cost most.
struct PhaseCost {
  std::string name;
  Seconds time;
  Words words_received;
  std::int64_t messages_received = 0;
};

/// What a rank did in one phase of the reported iteration.
struct RankPhase {
  int rank = 0;
  std::string phase;
  Traffic traffic;
};

/// Of a count a rank, over all ranks.
struct Spread {
  std::int64_t max = 0;
  double mean = 0;
};

/// What the ranks selected in the reported iteration (sparse schemes).
struct SelectionSummary {
  std::int64_t least = 0;  ///< components, of the ranks that selected
  std::int64_t most = 0;
  std::int64_t total = 0;
  std::int64_t sent_least = 0;  ///< components that travelled: empty slots too
  std::int64_t sent_most = 0;
  int ranks = 0;                        ///< that selected
  algorithms::SelectionWork work = {};  ///< the most of each kind that a rank did

  /// How far what was selected is from k, as a share of k; 0 for k = 0. `together`: k is what all
  /// ranks select.
  [[nodiscard]] double deviation(std::int64_t k, bool together) const;
};

/// A kind of iteration that a training goes through.
struct IterationKind {
  workloads::WeightedIteration which;
  workloads::IterationParts parts;
};

/// A training's iterations, weighted.
struct TrainingOutcome {
  workloads::IterationParts mean;
  double samples_per_s = 0;  ///< of all ranks
  std::vector<IterationKind> kinds;
};

/// What the reported iteration of a point gave.
struct Outcome {
  int iteration = 0;                     ///< which one this is about: the last
  Rank last_rank;                        ///< that ended last in it; not kept in rows
  std::vector<Seconds> iteration_times;  ///< of all of them; 0 on a network without a clock
  std::int64_t steps = 0;                ///< counting network
  Spread messages_sent;
  Spread messages_received;
  Spread words_sent;
  Spread words_received;
  std::vector<PhaseCost> phases;
  std::int64_t result_components = 0;  ///< non-zero components of the reduced gradient (n if dense)
  bool ranks_agree = false;            ///< all ranks hold the same reduced gradient
  std::optional<SelectionSummary> selection;  ///< of sparse schemes, where anything was selected
  Machine machine;                            ///< α and β that the formulas take
  /// The same point in the α-β machine of the platform, end to end: where flows share links.
  std::optional<Seconds> alphabeta_time;
  std::vector<LinkReport> links;   ///< if recorded: those that carried something, hottest first
  std::vector<RankPhase> by_rank;  ///< if recorded
  std::optional<TrainingOutcome> training;  ///< of a point with a workload

  [[nodiscard]] Seconds time() const { return iteration_times.back(); }
  /// Over all iterations, alike: what a scheme pays only every so often is in it in proportion
  /// where whole periods ran. Of a training see `training`.
  [[nodiscard]] Seconds mean_time() const;
  /// How many times longer than without others on the links; 1 where both take no time.
  [[nodiscard]] std::optional<double> congestion_factor() const;
};

/// What a timeline shows.
struct TimelineSettings {
  std::vector<Rank> ranks = {};  ///< those that the point does not have are refused
  bool last = true;              ///< the rank that ends last in the reported iteration too
  std::size_t most_events = 1'000'000;
};

/// When the second run is made that tells Outcome::alphabeta_time; or that there is none.
enum class AlphaBetaTime { none, after, beside /** in a process of its own */ };

/// How a point is run; it moves no result.
struct SimulationSettings {
  bool verbose = false;                                     ///< SimGrid's log goes to stderr
  AlphaBetaTime alphabeta = AlphaBetaTime::after;           ///< where flows share links
  std::function<void(int iteration)> after_iteration = {};  ///< for benchmarks
};

/// A point that is ready to run: its network is made, its platform is loaded.
class Simulation {
 public:
  /// Throws InputError where network or platform cannot be made.
  explicit Simulation(const Point& point, SimulationSettings settings = {});
  /// Throws SimulationError where the run fails.
  [[nodiscard]] Outcome run();
  /// The same, and what happens is kept in timeline(). Who ends last is known at the end: where
  /// that rank is asked for and is none of the others, the point runs twice, and the second one is
  /// kept. Throws InputError for a rank that is none, and on a network without a clock.
  [[nodiscard]] Outcome run(const TimelineSettings& settings);
  /// Of the run that was asked to keep it, as far as it came; nullptr before.
  [[nodiscard]] const Timeline* timeline() const { return timeline_.get(); }

 private:
  Outcome run(Timeline* timeline);

  Point point_;
  SimulationSettings settings_;
  ReadyNetwork ready_;
  std::unique_ptr<Timeline> timeline_;
};

/// Throws InputError where no timeline can be made of the point.
void check_timeline(const Point& point, const TimelineSettings& settings);

/// Why the scheme cannot run at this point, or nothing.
[[nodiscard]] std::optional<std::string> restriction_of(const Point& point);

}  // namespace thinwire::experiment
