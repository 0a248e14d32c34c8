// The interface between schemes and the origin of their gradients.
#pragma once

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::traces {

/// Provides every rank's gradient of every iteration (from 1). A pure function of its arguments, so
/// ranks may ask in any order.
class GradientSource {
 public:
  GradientSource() = default;
  GradientSource(const GradientSource&) = delete;
  GradientSource& operator=(const GradientSource&) = delete;
  virtual ~GradientSource() = default;

  [[nodiscard]] virtual GradientSpace space() const = 0;
  /// The coordinates that may be selected; the others count as 0.
  [[nodiscard]] virtual SparseVector sparse(Rank rank, int iteration) const = 0;
  [[nodiscard]] virtual DenseBlock dense(Rank rank, int iteration) const = 0;
};

}  // namespace thinwire::traces
