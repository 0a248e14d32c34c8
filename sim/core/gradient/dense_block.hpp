// Consecutive coordinates of a dense gradient, immutable and shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// Coordinates [first, last) and one value each. Copies and slices share the data. In the
/// statistical model of gradients a block has no values, and so has all that is made of it.
class DenseBlock {
 public:
  DenseBlock() = default;
  DenseBlock(std::uint32_t first, std::vector<float> values);
  [[nodiscard]] static DenseBlock from(const Payload& payload) { return DenseBlock(payload); }

  /// A block of the statistical model.
  [[nodiscard]] static DenseBlock valueless(std::uint32_t first, std::uint32_t last);
  [[nodiscard]] bool is_valueless() const;

  /// Whether a payload is a dense block.
  [[nodiscard]] static bool holds(const Payload& payload);

  [[nodiscard]] std::uint32_t first() const { return payload_.first; }
  [[nodiscard]] std::uint32_t last() const { return payload_.last; }
  [[nodiscard]] std::size_t size() const { return payload_.last - payload_.first; }
  /// Throws SimulationError where there are none.
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
/// Every coordinate of a block, also where its value is 0.
[[nodiscard]] SparseVector entries_of(const DenseBlock& block);
/// The value of `vector` at each coordinate of `indexes`, 0 where it has none, as a block that
/// begins at 0.
[[nodiscard]] DenseBlock values_at(const SparseVector& indexes, const SparseVector& vector);
/// Such values back at their coordinates.
[[nodiscard]] SparseVector placed(const SparseVector& indexes, const DenseBlock& values);
[[nodiscard]] bool equal(const DenseBlock& a, const DenseBlock& b);

}  // namespace thinwire::inline gradient
