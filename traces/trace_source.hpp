// A recorded trace as gradients: what a scheme gets is what the training's ranks had selected.
#pragma once

#include <vector>

#include "traces/source.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

/// Iteration i has the trace's i-th recorded iteration; after the last one the first comes again.
/// The values are of accumulators, so residuals are in them already.
class TraceSource final : public GradientSource {
 public:
  explicit TraceSource(TraceReader reader) : reader_(std::move(reader)) {}

  [[nodiscard]] GradientSpace space() const override {
    return {.components = reader_.header().components, .granule = 1};
  }
  [[nodiscard]] SparseVector sparse(Rank rank, int iteration) const override;
  /// The selected entries, zeros elsewhere.
  [[nodiscard]] DenseBlock dense(Rank rank, int iteration) const override;

 private:
  TraceReader reader_;
};

}  // namespace thinwire::traces
