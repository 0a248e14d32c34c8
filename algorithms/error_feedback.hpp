// Error feedback (Ok-Topk, Algorithm 2): the part of the accumulator that did not contribute in
// this iteration is added to the next gradient.
#pragma once

#include "sim/core/gradient/stream.hpp"

namespace thinwire::algorithms {

/// The residual ε of one rank.
class ErrorFeedback {
 public:
  /// acc = ε + gradient (line 4).
  [[nodiscard]] Stream accumulate(Stream gradient) const {
    if (const auto* sparse = std::get_if<SparseVector>(&gradient)) {
      return sum(std::get<SparseVector>(residual_), *sparse);
    }
    if (std::holds_alternative<SparseVector>(residual_)) return gradient;
    return sum(std::get<DenseBlock>(residual_), std::get<DenseBlock>(gradient));
  }
  /// ε = acc minus the part that contributed (line 6), in the form of Reduced::contributed, and what
  /// came back, that of Reduced::returned.
  void update(const Stream& accumulated, const Stream& contributed,
              const SparseVector& returned = {}) {
    if (const auto* sparse = std::get_if<SparseVector>(&accumulated)) {
      residual_ = sum(without(*sparse, std::get<SparseVector>(contributed)), returned);
    } else if (const auto* sent = std::get_if<DenseBlock>(&contributed)) {
      residual_ = difference(std::get<DenseBlock>(accumulated), *sent);
    } else {
      residual_ = SparseVector();
    }
  }
  [[nodiscard]] const Stream& residual() const { return residual_; }

 private:
  Stream residual_;
};

}  // namespace thinwire::algorithms
