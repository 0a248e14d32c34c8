#include "sim/core/gradient/nonzero_blocks.hpp"

#include <algorithm>

namespace thinwire::inline gradient {

std::vector<bool> nonzero_blocks(const SparseVector& vector, const BlockSize& size,
                                 std::span<const std::uint32_t> like) {
  return vector.body().nonzero_blocks(vector.payload(), size, like);
}

SparseVector in_blocks(const SparseVector& vector, const BlockSize& size,
                       std::span<const std::uint32_t> blocks, std::uint32_t of) {
  if (blocks.empty()) return {};
  return SparseVector::from(vector.body().in_blocks(vector.payload(), size, blocks, of));
}

SparseVector joined_blocks(std::span<const SparseVector> parts) {
  const auto first = std::ranges::find_if(parts, [](const auto& v) { return v.size() > 0; });
  if (first == parts.end()) return {};
  return SparseVector::from(first->body().joined_blocks(parts));
}

}  // namespace thinwire::inline gradient
