// Error feedback (Ok-Topk, Algorithm 2): the part of the accumulator that did not contribute in
// this iteration is added to the next gradient.
#pragma once

#include <utility>
#include <vector>

#include "algorithms/scheme.hpp"
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
  /// ε = acc minus the part that contributed (line 6), and what came back.
  void update(const Stream& accumulated, const Reduced& reduced) {
    if (const auto* sparse = std::get_if<SparseVector>(&accumulated)) {
      const auto& sent = std::get<SparseVector>(reduced.contributed);
      residual_ =
          sum(reduced.sent_approximately ? difference(*sparse, sent) : without(*sparse, sent),
              reduced.returned);
    } else if (const auto* sent = std::get_if<DenseBlock>(&reduced.contributed)) {
      residual_ = thinwire::difference(std::get<DenseBlock>(accumulated), *sent);
    } else {
      residual_ = SparseVector();
    }
  }
  [[nodiscard]] const Stream& residual() const { return residual_; }

 private:
  [[nodiscard]] static SparseVector difference(const SparseVector& a, const SparseVector& b) {
    std::vector<Entry> negated(b.entries().begin(), b.entries().end());
    for (Entry& entry : negated) entry.value = -entry.value;
    return sum(a, SparseVector::trusted(std::move(negated)));
  }

  Stream residual_;
};

}  // namespace thinwire::algorithms
