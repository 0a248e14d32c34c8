// Data-parallel Top-k SGD with residuals over P workers in one process.
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
  double loss = 0;  ///< mean of the workers'
  std::vector<SparseVector> selected;
  std::vector<float> thresholds;
  std::optional<float> global_threshold;  ///< with Ok-Topk's rule
};

/// Entries of `values` that are not 0, at most k of largest magnitude; of equal ones those of lower
/// coordinate.
[[nodiscard]] SparseVector select_topk(std::span<const float> values, std::int64_t k);

/// Plain SGD, no momentum. The learning rate is in the gradients, as in Ok-Topk's Algorithm 2: an
/// accumulator is the residual and learning rate · gradient, and parameters lose the mean of what
/// is applied over the workers.
class TopkSgd {
 public:
  TopkSgd(Model& model, const TopkSettings& settings);

  /// Applies whole gradients; residuals stay as they are. Returns the mean loss.
  double dense_step(int iteration);
  /// Each worker selects the exact top-k of its accumulator. Rule `all`: the sum of all that is
  /// selected is applied, residuals keep what is not selected. Rule `oktopk`: the top-k of the sum
  /// is applied, residuals lose only what is both selected and among it.
  TopkStep step(int iteration);

  /// Of the last step, learning rate and all, before error feedback.
  [[nodiscard]] std::span<const float> gradient(Rank rank) const;
  /// After the last step.
  [[nodiscard]] std::span<const float> residual(Rank rank) const;

 private:
  double compute_gradients(int iteration);

  Model& model_;
  TopkSettings settings_;
  std::vector<std::vector<float>> gradients_;
  std::vector<std::vector<float>> residuals_;
};

}  // namespace thinwire::recorder
