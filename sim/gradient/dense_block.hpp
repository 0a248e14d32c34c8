// Consecutive coordinates of a dense gradient, immutable and shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/message.hpp"
#include "sim/gradient/space.hpp"
#include "sim/gradient/sparse_vector.hpp"

namespace thinwire {

/// Coordinates [first, last) and one value each. Copies and slices share the data.
class DenseBlock {
 public:
  DenseBlock() = default;
  DenseBlock(std::uint32_t first, std::vector<float> values);
  [[nodiscard]] static DenseBlock from(const Payload& payload) { return DenseBlock(payload); }

  /// Whether a payload is a dense block.
  [[nodiscard]] static bool holds(const Payload& payload);

  [[nodiscard]] std::uint32_t first() const { return payload_.first; }
  [[nodiscard]] std::uint32_t last() const { return payload_.last; }
  [[nodiscard]] std::size_t size() const { return payload_.last - payload_.first; }
  [[nodiscard]] std::span<const float> values() const;
  [[nodiscard]] const Payload& payload() const { return payload_; }

  /// Coordinates [first, last), which must lie in the block.
  [[nodiscard]] DenseBlock slice(std::uint32_t first, std::uint32_t last) const;

  /// One word a component, for a block of whole granules.
  [[nodiscard]] Message message(const GradientSpace& space) const {
    return {payload_, Words(space.component(last()) - space.component(first()))};
  }

 private:
  explicit DenseBlock(Payload payload) : payload_(std::move(payload)) {}

  Payload payload_;
};

/// Component-wise sum of two blocks of the same coordinates.
[[nodiscard]] DenseBlock sum(const DenseBlock& a, const DenseBlock& b);
/// Component-wise a - b of two blocks of the same coordinates.
[[nodiscard]] DenseBlock difference(const DenseBlock& a, const DenseBlock& b);
/// A dense block with a sparse vector, whose coordinates lie in it, added.
[[nodiscard]] DenseBlock sum(const DenseBlock& a, const SparseVector& b);
/// One block of blocks that follow one another.
[[nodiscard]] DenseBlock concatenate(std::span<const DenseBlock> parts);
[[nodiscard]] DenseBlock to_dense(const SparseVector& vector, std::uint32_t first,
                                  std::uint32_t last);

}  // namespace thinwire
