// Error feedback (Ok-Topk, Algorithm 2): what did not contribute in this iteration is added to the
// gradient of the next one.
#pragma once

#include "sim/gradient/sparse_vector.hpp"

namespace thinwire {

/// One rank's residual ε.
class ErrorFeedback {
 public:
  /// acc = ε + gradient (line 4).
  [[nodiscard]] SparseVector accumulate(const SparseVector& gradient) const {
    return sum(residual_, gradient);
  }
  /// ε = acc without what contributed (line 6).
  void update(const SparseVector& accumulated, const SparseVector& contributed) {
    residual_ = without(accumulated, contributed);
  }
  [[nodiscard]] const SparseVector& residual() const { return residual_; }

 private:
  SparseVector residual_;
};

}  // namespace thinwire
