// The ranks of a point: what runs and measurements have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/error_feedback.hpp"
#include "algorithms/scheme.hpp"
#include "sim/app/results/outcome.hpp"
#include "sim/app/run/few_roles.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/machine/workloads/activation_sums.hpp"
#include "traces/source.hpp"

namespace thinwire::run {

/// The state of one rank, kept across iterations.
struct RankState {
  std::unique_ptr<algorithms::Scheme> scheme = {};
  algorithms::ErrorFeedback feedback = {};
  algorithms::Reduced reduced = {};
  algorithms::LocalGradient accumulated = {};            ///< what feed_back() takes; else empty
  std::unique_ptr<workloads::ActivationSums> sums = {};  ///< if ranks share the layers of a model
};

/// The training around the scheme, and the number of samples per rank.
struct TrainingSetup {
  workloads::Training training;
  std::int64_t batch = 0;
  std::vector<std::int64_t> tensors;
  std::vector<std::int64_t> rows;  ///< of each tensor; empty if not known
  std::vector<std::int64_t> layers;
};

/// Makes the ranks of a point and their gradients.
class PointRanks {
 public:
  /// Throws InputError if the point cannot run.
  PointRanks(const plan::Point& point, const plan::Machine& machine);
  /// The same with gradients of another source than the point's input, real ones, which have values,
  /// and with another training, or none, than the point's workload.
  PointRanks(const plan::Point& point, const plan::Machine& machine,
             std::shared_ptr<const traces::GradientSource> source,
             std::optional<TrainingSetup> training);
  PointRanks(const PointRanks&) = delete;
  PointRanks& operator=(const PointRanks&) = delete;
  ~PointRanks() = default;

  [[nodiscard]] const plan::Point& point() const { return point_; }
  [[nodiscard]] const algorithms::SchemeInfo& info() const { return info_; }
  [[nodiscard]] const algorithms::SchemeSetup& setup() const { return setup_; }
  [[nodiscard]] const std::optional<TrainingSetup>& training() const { return training_; }

  [[nodiscard]] RankState make_rank() const;
  /// From here on all gradients have values. By default a dense one has none without error feedback,
  /// unless its scheme sends approximate values.
  void look_at_values() { values_ = true; }
  /// The accumulator of a rank. Those of the data-parallel groups are alike.
  [[nodiscard]] algorithms::LocalGradient gradient(const RankState& state, Rank rank,
                                                   int iteration) const;
  /// Runs the allreduce alone, after the time of its call, or a training iteration around it.
  [[nodiscard]] Task<void> iterate(Communicator& on_network, RankState& rank,
                                   algorithms::LocalGradient gradient, int iteration) const;
  /// The same with the accumulator of the rank.
  [[nodiscard]] Task<void> iterate(Communicator& on_network, RankState& rank, int iteration) const;
  /// Keeps what the rank did not send in an iteration, where the point has error feedback.
  void feed_back(RankState& rank) const {
    if (point_.error_feedback) rank.feedback.update(rank.accumulated, rank.reduced);
  }
  /// Forgets the results that ranks have shared in an iteration.
  void end_iteration() { shared_.clear(); }
  /// Sets the iterations after which a scheme has settled, if it does.
  void say_how_settled(results::Outcome& outcome) const {
    const algorithms::SettledState& settled = setup_.settled;
    if (settled.iterations > 0) outcome.settling_iterations = settled.iterations;
    outcome.settling_cut_short = settled.cut_short;
  }

 private:
  [[nodiscard]] algorithms::SchemeSetup make_setup(const plan::Machine& machine);
  [[nodiscard]] algorithms::SchemeSetup make_tensor_setup(const plan::Machine& machine) const;
  /// How many times as long the local work of a rank takes.
  [[nodiscard]] double slowness(Rank rank, int iteration) const;

  plan::Point point_;
  algorithms::SchemeInfo info_;
  std::shared_ptr<const traces::GradientSource> source_;
  SharedWork shared_;
  std::optional<TrainingSetup> training_;
  std::optional<FewRoles> few_roles_;  ///< if few ranks stand for all
  algorithms::SchemeSetup setup_;
  bool values_ = false;  ///< whether somebody looks at the values of dense gradients
  algorithms::SchemeSetup tensor_setup_ = {};  ///< if ranks share the layers of a model
  std::vector<bool> slow_;  ///< the ranks of Stragglers::ranks; empty if there are none
};

/// Whether two results are the same, to the last bit.
[[nodiscard]] bool same_result(const Stream& a, const Stream& b);
/// Whether all ranks hold the same result. Of a reduce-scatter: whether their blocks, by rank, are
/// the whole; of an all-to-all: whether they received as much as they sent; of a ping-pong: whether
/// the two ranks hold the same.
[[nodiscard]] bool results_agree(algorithms::Collective collective,
                                 const std::vector<RankState>& ranks, const GradientSpace& space);
/// The components of a result.
[[nodiscard]] std::int64_t components_of(const Stream& stream, const GradientSpace& space);
/// The L2 norm of a residual, whose values are exact: only such gradients take error feedback.
[[nodiscard]] double norm_of(const Stream& residual, const GradientSpace& space);
/// The summary of the ranks' selections; nothing for a dense scheme, or if there were none.
[[nodiscard]] std::optional<results::SelectionSummary> selection_of(
    std::span<const algorithms::SelectionReport> ranks, bool dense);
/// The mean of the iterations of a training by their weights; `samples`: of one, over all ranks.
[[nodiscard]] results::TrainingOutcome training_outcome(std::vector<results::IterationKind> kinds,
                                                        std::int64_t samples);
/// The samples of an iteration of the point's training, over all ranks.
[[nodiscard]] std::int64_t samples_of(const plan::Point& point);
/// Adds what the ranks sent, received and spent in the phases of an iteration, by rank if asked.
void add_costs(const RunReport& report, bool ranks, results::Outcome& outcome);

}  // namespace thinwire::run
