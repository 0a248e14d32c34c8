// Top-k selection by a threshold that is exact every τ' iterations and reused in between
// (Ok-Topk, section 3.1.3).
#pragma once

#include <cstdint>

#include "sim/gradient/sparse_vector.hpp"

namespace thinwire {

class ThresholdReuse {
 public:
  explicit ThresholdReuse(std::int64_t period) : period_(period) {}

  /// Iterations count from 1; the first one is exact.
  [[nodiscard]] bool exact_in(int iteration) const { return (iteration - 1) % period_ == 0; }
  void set_threshold(float threshold) { threshold_ = threshold; }
  [[nodiscard]] SparseVector select(const SparseVector& vector) const {
    return select_at_least(vector, threshold_);
  }

 private:
  std::int64_t period_;
  float threshold_ = 0;
};

}  // namespace thinwire
