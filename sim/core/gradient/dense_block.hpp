// A range of consecutive coordinates of a dense gradient, immutable and shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// How the values of a block were reduced to few bits, which is how they travel (quantiser.hpp).
struct Quantisation {
  int bits = 0;               ///< of a value: a sign, and bits - 1 for a level
  std::int64_t bucket = 0;    ///< coordinates that share a scale
  std::vector<float> scales;  ///< by bucket
};

struct UnfilledBlock;

/// Coordinates [first, last) with one value each. Copies and slices share the data. Where nothing
/// depends on the values, and in the statistical model, a block and those made of it have none.
class DenseBlock {
 public:
  DenseBlock() = default;
  DenseBlock(std::uint32_t first, std::vector<float> values);
  /// A block of quantised values.
  DenseBlock(std::uint32_t first, std::vector<float> values, Quantisation quantisation);
  /// A block of `size` values that are yet to be written, before anybody reads them. Its memory has
  /// room for `room` values, at least `size`.
  [[nodiscard]] static UnfilledBlock unfilled(std::uint32_t first, std::size_t size,
                                              std::size_t room);
  [[nodiscard]] static DenseBlock from(const Payload& payload) { return DenseBlock(payload); }

  /// A block without values, which takes no memory.
  [[nodiscard]] static DenseBlock valueless(std::uint32_t first, std::uint32_t last);
  [[nodiscard]] bool is_valueless() const;

  /// Whether a payload is a dense block.
  [[nodiscard]] static bool holds(const Payload& payload);

  [[nodiscard]] std::uint32_t first() const { return payload_.first; }
  [[nodiscard]] std::uint32_t last() const { return payload_.last; }
  [[nodiscard]] std::size_t size() const { return payload_.last - payload_.first; }
  /// Throws SimulationError when the block has no values.
  [[nodiscard]] std::span<const float> values() const;
  [[nodiscard]] const Payload& payload() const { return payload_; }
  /// How the block was quantised; null if it was not, or is a part of a block that was.
  [[nodiscard]] const Quantisation* quantisation() const;

  /// Coordinates [first, last), which must lie in the block.
  [[nodiscard]] DenseBlock slice(std::uint32_t first, std::uint32_t last) const;

  /// The block on the wire: the value of each component, for a block of whole granules.
  [[nodiscard]] Message message(const GradientSpace& space) const {
    return {payload_, space.value_words(space.component(last()) - space.component(first()))};
  }

 private:
  explicit DenseBlock(Payload payload) : payload_(std::move(payload)) {}

  Payload payload_;
};

/// A new block, and its memory.
struct UnfilledBlock {
  DenseBlock block;
  std::span<float> memory;
};

/// Component-wise sum of two blocks of the same coordinates.
[[nodiscard]] DenseBlock sum(const DenseBlock& a, const DenseBlock& b);
/// The sum of one block or more of the same coordinates, added in their order.
[[nodiscard]] DenseBlock sum(std::span<const DenseBlock> blocks);
/// Component-wise a - b of two blocks of the same coordinates.
[[nodiscard]] DenseBlock difference(const DenseBlock& a, const DenseBlock& b);
/// The sum of a dense block and a sparse vector whose coordinates lie in it.
[[nodiscard]] DenseBlock sum(const DenseBlock& a, const SparseVector& b);
/// Joins blocks that follow one another into one.
[[nodiscard]] DenseBlock concatenate(std::span<const DenseBlock> parts);
[[nodiscard]] DenseBlock to_dense(const SparseVector& vector, std::uint32_t first,
                                  std::uint32_t last);
/// All coordinates of a block as entries, including those with value 0.
[[nodiscard]] SparseVector entries_of(const DenseBlock& block);
/// The values of `vector` at the coordinates of `indexes`, 0 if missing, as a block from 0 on.
[[nodiscard]] DenseBlock values_at(const SparseVector& indexes, const SparseVector& vector);
/// The inverse of values_at(): puts the values back at their coordinates.
[[nodiscard]] SparseVector placed(const SparseVector& indexes, const DenseBlock& values);
[[nodiscard]] bool equal(const DenseBlock& a, const DenseBlock& b);

}  // namespace thinwire::inline gradient
