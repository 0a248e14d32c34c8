// Trains a model data-parallel through a registered scheme, whose allreduces are simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/app/run/ranks.hpp"
#include "sim/machine/workloads/iteration.hpp"
#include "tools/recorder/models.hpp"

namespace thinwire::recorder {

/// Time that is not the allreduce's.
struct TrainingWork {
  /// The time of an iteration without a device: it comes before the allreduce, and nothing overlaps with it.
  Seconds compute;
  /// A device's: computing, selection and sums at its prices, and what overlaps.
  std::optional<run::TrainingSetup> on_device = {};
};

struct TrainerSettings {
  /// One training timed at several places: points that differ in nothing but where they run. The
  /// sums of the first one are applied. Components and tensors are the model's, times the granule.
  std::vector<plan::Point> points;
  float learning_rate = 0.1F;
  float decay = 1;      ///< the learning rate is multiplied by it
  int decay_every = 0;  ///< after each so many iterations; 0: never
  float momentum = 0;   ///< with error feedback: DGC's momentum correction
  int warm_up = 0;      ///< so many iterations are dense, by kWarmUpScheme
  TrainingWork work = {};
};

/// The scheme of warm-up iterations.
inline constexpr const char* kWarmUpScheme = "dense_ring";

/// What one iteration did.
struct TrainerStep {
  double loss = 0;  ///< mean over the workers, before the update
  float learning_rate = 0;
  std::vector<workloads::IterationParts> parts;  ///< by place
  std::optional<results::SelectionSummary> selection = {};
  std::int64_t result_components = 0;
  /// ξ of this iteration (Ok-Topk, Assumption 1): the distance of the update from the top-k of the
  /// mean accumulator, in lengths of the mean gradient. Nothing for dense schemes, where it was not
  /// measured, and where the mean gradient is 0.
  std::optional<double> xi = {};
  /// The mean over the ranks of the L2 norm of the residual after it (ExDyna, Equation 1), in the
  /// units of learning rate times gradient.
  std::optional<double> global_error = {};
};

/// Plain SGD, or with momentum, over P workers in one process. A gradient includes the learning
/// rate, as in Ok-Topk's Algorithm 2. What the scheme sums is subtracted from the parameters, over
/// P; what did not contribute is kept, if the points have error feedback.
class Trainer {
 public:
  /// Throws InputError if the points cannot run, or not together.
  Trainer(Model& model, TrainerSettings settings);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  ~Trainer();

  /// Runs iteration 1, 2, 3 ... ξ and the global error take a while and are optional. Throws
  /// SimulationError if a gradient is not finite, or if the places have different sums.
  TrainerStep step(int iteration, bool measured = true);

  /// The gradient of the last step, times the learning rate, with momentum if there is any.
  [[nodiscard]] std::span<const float> gradient(Rank rank) const;
  /// The ranks of the first place, after the last step.
  [[nodiscard]] const std::vector<run::RankState>& ranks() const;

 private:
  class Place;

  double compute_gradients(int iteration, float rate);
  [[nodiscard]] std::vector<Stream> accumulate(bool dense);
  [[nodiscard]] double global_error() const;
  void apply(const Stream& sum);
  void forget_momentum();
  [[nodiscard]] std::optional<double> xi_of(const Place& place) const;

  Model& model_;
  TrainerSettings settings_;
  std::vector<std::vector<float>> gradients_;   // of the last iteration, by rank
  std::vector<std::vector<float>> residuals_;   // between iterations; in one, the accumulators
  std::vector<std::vector<float>> velocities_;  // empty without momentum
  std::vector<run::ReadyNetwork> networks_;
  std::vector<std::unique_ptr<Place>> warm_up_;
  std::vector<std::unique_ptr<Place>> places_;
  bool warm_ = false;  // the last step was one of the warm-up
};

}  // namespace thinwire::recorder
