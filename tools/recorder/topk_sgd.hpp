// Runs data-parallel Top-k SGD with residuals over P workers in one process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "tools/recorder/models.hpp"
#include "traces/trace.hpp"

namespace thinwire::recorder {

struct TopkSettings {
  int ranks = 1;
  std::int64_t k = 1;
  traces::ResidualRule rule = traces::ResidualRule::all;
  float learning_rate = 0.1F;
};

struct TopkStep {
  double loss = 0;  ///< mean over the workers
  std::vector<SparseVector> selected;
  std::vector<float> thresholds;
  std::optional<float> global_threshold;  ///< with Ok-Topk's rule
};

/// The at most k non-zero entries of `values` with the largest magnitudes; ties go to the lower
/// coordinate.
[[nodiscard]] SparseVector select_topk(std::span<const float> values, std::int64_t k);

/// Plain SGD without momentum. The gradients include the learning rate, as in Ok-Topk's Algorithm
/// 2: an accumulator is the residual plus learning rate · gradient, and each step subtracts the
/// mean of the applied values over the workers from the parameters.
class TopkSgd {
 public:
  TopkSgd(Model& model, const TopkSettings& settings);

  /// Applies dense gradients; residuals do not change. Returns the mean loss.
  double dense_step(int iteration);
  /// Each worker selects the exact top-k of its accumulator. Rule `all`: the sum of all selections
  /// is applied, and residuals keep what was not selected. Rule `oktopk`: the top-k of the sum is
  /// applied, and residuals lose only selected entries that are in it.
  TopkStep step(int iteration);

  /// The gradient of the last step, times the learning rate, before error feedback.
  [[nodiscard]] std::span<const float> gradient(Rank rank) const;
  /// The residual after the last step.
  [[nodiscard]] std::span<const float> residual(Rank rank) const;

 private:
  double compute_gradients(int iteration);

  Model& model_;
  TopkSettings settings_;
  std::vector<std::vector<float>> gradients_;
  std::vector<std::vector<float>> residuals_;
};

}  // namespace thinwire::recorder
