// The outcome of a simulated or measured point: its times, messages, words, phases and selection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/workloads/iteration.hpp"

namespace thinwire::results {

/// The cost of one phase of the reported iteration, for the rank that it cost most.
struct PhaseCost {
  std::string name = {};
  Seconds time = {};
  Words words_received = {};
  std::int64_t messages_received = 0;
};

/// The traffic of one rank in one phase of the reported iteration.
struct RankPhase {
  int rank = 0;
  std::string phase;
  Traffic traffic;
};

/// The maximum and the mean of a per-rank count over all ranks.
struct Spread {
  std::int64_t max = 0;
  double mean = 0;
};

/// The numbers of components that the ranks selected in the reported iteration (sparse schemes).
struct SelectionSummary {
  std::int64_t least = 0;  ///< components, over the ranks that selected
  std::int64_t most = 0;
  std::int64_t total = 0;
  std::int64_t sent_least = 0;  ///< components that were sent, including empty slots
  std::int64_t sent_most = 0;
  int ranks = 0;                        ///< ranks that selected
  algorithms::SelectionWork work = {};  ///< per kind, the maximum over the ranks

  /// The relative deviation of the selected count from k; 0 for k = 0. `together`: k is the count
  /// of all ranks together instead of each.
  [[nodiscard]] double deviation(std::int64_t k, bool together) const;
};

/// The time of an iteration that stands for all of its kind.
struct KindTime {
  workloads::WeightedIteration which;
  Seconds time;
  std::optional<SelectionSummary> selection = {};  ///< in it, as Outcome::selection
  std::int64_t result_components = 0;              ///< likewise
};

/// A kind of iteration that occurs in a training run.
struct IterationKind {
  workloads::WeightedIteration which;
  workloads::IterationParts parts;
};

/// The weighted iterations of a training run.
struct TrainingOutcome {
  workloads::IterationParts mean;
  double samples_per_s = 0;  ///< over all ranks
  std::vector<IterationKind> kinds;
};

/// The distribution of measured times.
struct Quartiles {
  Seconds median;
  Seconds least;
  Seconds p10;  ///< 10th percentile
  Seconds p90;
};

/// How a time was measured, on real processes.
struct Measured {
  Quartiles time;                  ///< of the slowest rank of each iteration
  int warm_up = 0;                 ///< iterations before the measured ones
  int iterations = 0;              ///< measured
  bool checked = false;            ///< results, messages and words were compared with a reference
  std::string library;             ///< that moved the bytes, and its version
  std::vector<std::string> hosts;  ///< each once, in the order of the ranks
  /// The library's own allreduce of a dense gradient of the same size, if that was measured too.
  std::optional<Quartiles> library_allreduce = {};
};

/// The outcome of a point, for its reported iteration.
struct Outcome {
  int iteration = 0;                     ///< the reported iteration: the last one
  Rank last_rank;                        ///< the rank that ended last in it; not stored in rows
  std::vector<Seconds> iteration_times;  ///< of all iterations; 0 on a network without a clock
  /// One iteration of each kind of a scheme with periods; those that are not among the first ones
  /// run after the reported one. Empty: no periods, no clock, or error feedback, whose iterations
  /// follow one another. Of a training see `training`.
  std::vector<KindTime> kinds;
  std::int64_t steps = 0;  ///< on the counting network
  Spread messages_sent;
  Spread messages_received;
  Spread words_sent;
  Spread words_received;
  std::vector<PhaseCost> phases;
  std::int64_t result_components = 0;  ///< non-zero components of the reduced gradient (n if dense)
  bool ranks_agree = false;            ///< all ranks hold the same result, or its blocks
  std::optional<SelectionSummary> selection;  ///< of sparse schemes, if anything was selected
  /// Tensors that were compressed, of a scheme that decides for each whether that pays.
  std::optional<std::int64_t> compressed_tensors;
  /// The iterations, before the first, in which partitions and threshold settled; if they did.
  std::optional<int> settling_iterations;
  bool settling_cut_short = false;  ///< they were not seen to settle
  /// How many chunks the gradient has, if times are extrapolated from fewer.
  std::optional<std::int64_t> extrapolated_chunks;
  /// With error feedback: after each iteration, the mean over the ranks of the L2 norm of what did
  /// not contribute (ExDyna, Equation 1).
  std::vector<double> global_errors;
  plan::Machine machine;  ///< with the α and β for the formulas
  /// The time on the LogGP machine with the platform's mean L, g and G; only where flows share links.
  std::optional<Seconds> alphabeta_time;
  std::vector<LinkReport> links;   ///< if recorded: the links that carried data, busiest first
  std::vector<RankPhase> by_rank;  ///< if recorded
  std::optional<TrainingOutcome> training;  ///< if the point has a workload
  /// On the network mpi; `iteration_times` are then those that were measured, and the times of the
  /// phases their medians.
  std::optional<Measured> measured;

  /// The time of the reported iteration; the median of the measured ones.
  [[nodiscard]] Seconds time() const {
    return measured ? measured->time.median : iteration_times.back();
  }
  /// The mean over the scheme's kinds of iterations, so that periodic work counts by its share. If
  /// the kinds are not known: the mean over the iterations that ran.
  [[nodiscard]] Seconds mean_time() const;
  /// The time of an iteration in which no period begins; nothing if there is no such kind.
  [[nodiscard]] std::optional<Seconds> steady_time() const;
  /// The longest time of an iteration in which a period begins; nothing without periodic work.
  [[nodiscard]] std::optional<Seconds> periodic_time() const;
  /// What schemes are compared by: the mean of those with periodic work, or else time().
  [[nodiscard]] Seconds compared_time() const { return periodic_time() ? mean_time() : time(); }
  /// The cost of a phase; nothing of one that there was not.
  [[nodiscard]] PhaseCost phase(std::string_view name) const;
  /// The slowdown over alphabeta_time by sharing links; 1 if both take no time.
  [[nodiscard]] std::optional<double> congestion_factor() const;

 private:
  [[nodiscard]] std::vector<KindTime> kinds_of_all() const;
};

}  // namespace thinwire::results
