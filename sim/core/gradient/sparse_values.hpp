// The values of a sparse vector without their coordinates, for schemes that send both in messages
// of their own, as the published code of Ok-Topk does.
#pragma once

#include <span>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// An immutable, shared list of values. In a simulation it refers to the vector that they are of,
/// so no value is copied; values that came over a wire stand for themselves.
class SparseValues {
 public:
  [[nodiscard]] static Payload of(SparseVector vector);
  [[nodiscard]] static Payload received(std::vector<float> values);
  /// Whether a payload is such a list.
  [[nodiscard]] static bool holds(const Payload& payload);
  /// The values; throws SimulationError in the statistical model, which has none.
  [[nodiscard]] static std::vector<float> values(const Payload& payload);
  /// The vector of these coordinates and values. An empty vector may have a payload without a body.
  [[nodiscard]] static SparseVector joined(const SparseVector& coordinates, const Payload& values);

 private:
  struct ValuesBody;
};

}  // namespace thinwire::inline gradient
