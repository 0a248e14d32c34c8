// threshold_reuse: the exact k-th largest magnitude is computed every τ' iterations and reused as
// the threshold in between (Ok-Topk, section 3.1.3), unchanged or nudged as in the published code.
#pragma once

#include <cstdint>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// A threshold that is exact in iterations 1, 1 + τ', 1 + 2τ' ... and reused in between.
class ReusedThreshold {
 public:
  explicit ReusedThreshold(std::int64_t period) : period_(period) {}

  /// Iterations count from 1; the first is exact.
  [[nodiscard]] bool exact_in(int iteration) const { return (iteration - 1) % period_ == 0; }
  void set(float threshold) { threshold_ = threshold; }
  [[nodiscard]] float value() const { return threshold_; }
  [[nodiscard]] SparseVector select(const SparseVector& vector) const {
    return select_at_least(vector, threshold_);
  }
  /// Multiplies the threshold by `raise` if more than `high` times `wanted` entries were selected, and
  /// divides it by `lower` if fewer than `low` times `wanted` were.
  void nudge(std::int64_t selected, std::int64_t wanted, double low, double high, double raise,
             double lower);

 private:
  std::int64_t period_;
  float threshold_ = 0;
};

/// The option that this sparsifier alone has.
inline constexpr const char* kNudgeFactor = "nudge_factor";

/// τ' and the nudging, shared with oktopk's global threshold.
[[nodiscard]] std::vector<OptionInfo> threshold_reuse_options();
[[nodiscard]] SparsifierInfo threshold_reuse_sparsifier();

}  // namespace thinwire::algorithms
