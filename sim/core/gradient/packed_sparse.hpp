// Sparse vectors whose values have few levels and whose indexes count within chunks, as SparseLoCo
// sends them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// How a vector of `count` entries is packed: the levels, one float each, and then an index and a
/// code for each entry, one after another from the lowest bit of the first word on. With chunks, the
/// first x coordinates hold floor(count x / coordinates) entries wherever a chunk ends.
struct SparsePacking {
  std::int64_t chunk = 0;        ///< coordinates of a chunk; 0: indexes have 32 bits
  std::int64_t coordinates = 0;  ///< of the whole gradient
  int bits = 2;                  ///< of a code
  std::vector<float> levels = {};

  /// The words of `count` entries, none if there are none.
  [[nodiscard]] static std::int64_t words(std::int64_t count, std::int64_t chunk, int bits);
};

/// A packed vector as a payload. In a simulation it refers to the vector.
class PackedSparse {
 public:
  /// The values of the vector must be levels. An empty vector has a payload without a body.
  [[nodiscard]] static Payload of(SparseVector vector, SparsePacking packing);
  [[nodiscard]] static bool holds(const Payload& payload);
  [[nodiscard]] static SparseVector vector(const Payload& payload);
  [[nodiscard]] static const SparsePacking& packing(const Payload& payload);

 private:
  struct PackedBody;
};

/// The vector with the values that remain of it: 2^bits bins of equal width, from three deviations
/// below the mean to three above it, and a value becomes the mean of those in its bin.
struct Binned {
  SparseVector vector;
  std::vector<float> levels;
};
[[nodiscard]] Binned binned(const SparseVector& vector, int bits);

/// The vector with as many entries in each chunk as SparsePacking says for `count`, of which it has
/// no more: where it has fewer, zeros at the first coordinates that it does not hold.
[[nodiscard]] SparseVector filled(const SparseVector& vector, std::int64_t count,
                                  const SparsePacking& packing);

/// The words of a packed vector. Throws SimulationError if a value is no level, or if a chunk has
/// another number of entries.
[[nodiscard]] std::vector<std::uint32_t> pack_sparse(const SparseVector& vector,
                                                     const SparsePacking& packing);
/// The inverse: the entries, in whatever order the words say.
[[nodiscard]] std::vector<Entry> unpack_sparse(std::span<const std::uint32_t> words,
                                               std::int64_t count, SparsePacking& packing);

}  // namespace thinwire::inline gradient
