#include "sim/core/gradient/hash_parts.hpp"

#include <algorithm>

namespace thinwire::inline gradient {

std::vector<SparseVector> parts_by_hash(const SparseVector& vector, int parts) {
  std::vector<SparseVector> result(static_cast<std::size_t>(parts));
  if (parts == 1) {
    result.front() = vector;
  } else if (vector.size() > 0) {
    const std::vector<Payload> payloads = vector.body().parts_by_hash(vector.payload(), parts);
    std::ranges::transform(payloads, result.begin(), SparseVector::from);
  }
  return result;
}

SparseVector joined_by_hash(std::span<const SparseVector> parts) {
  const auto first = std::ranges::find_if(parts, [](const auto& v) { return v.size() > 0; });
  if (first == parts.end()) return {};
  return SparseVector::from(first->body().joined_by_hash(parts));
}

const std::vector<std::vector<std::uint32_t>>& coordinates_by_hash(std::uint32_t coordinates,
                                                                   int parts) {
  thread_local std::uint32_t known = 0;
  thread_local std::vector<std::vector<std::uint32_t>> lists;
  if (known == coordinates && lists.size() == static_cast<std::size_t>(parts)) return lists;
  lists.assign(static_cast<std::size_t>(parts), {});
  for (std::uint32_t coordinate = 0; coordinate < coordinates; ++coordinate) {
    lists[part_by_hash(coordinate, parts)].push_back(coordinate);
  }
  known = coordinates;
  return lists;
}

}  // namespace thinwire::inline gradient
