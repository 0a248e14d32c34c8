// A recorded trace as a source of gradients: the selections of the training's ranks.
#pragma once

#include <vector>

#include "traces/source.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

/// Iteration i has the trace's i-th recorded iteration; the trace repeats after the last one. The
/// values come from accumulators, so they include residuals.
class TraceSource final : public GradientSource {
 public:
  explicit TraceSource(TraceReader reader) : reader_(std::move(reader)) {}

  [[nodiscard]] GradientSpace space() const override {
    return {.components = reader_.header().components, .granule = 1};
  }
  [[nodiscard]] SparseVector sparse(Rank rank, int iteration) const override;
  /// The selected entries, with zeros elsewhere.
  [[nodiscard]] DenseBlock dense(Rank rank, int iteration) const override;

 private:
  TraceReader reader_;
};

}  // namespace thinwire::traces
