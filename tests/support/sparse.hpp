// Serial oracles of the operations on sparse vectors: maps in double precision, and plain sorting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::test {

using Oracle = std::map<std::uint32_t, double>;
using Entries = std::vector<Entry>;

[[nodiscard]] inline Entries entries_of(const SparseVector& vector) {
  return {vector.entries().begin(), vector.entries().end()};
}

inline void add_to(Oracle& oracle, const SparseVector& vector) {
  for (const Entry& entry : vector.entries()) oracle[entry.coordinate] += entry.value;
}

/// The oracle's entries, with the values as floats.
[[nodiscard]] inline Entries entries_of(const Oracle& oracle) {
  Entries entries;
  for (const auto& [coordinate, value] : oracle) {
    entries.push_back({coordinate, static_cast<float>(value)});
  }
  return entries;
}

/// Sorts by magnitude, ties by coordinate: the first k are the exact top-k.
[[nodiscard]] inline Entries by_magnitude(Entries entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const float ma = std::abs(a.value);
    const float mb = std::abs(b.value);
    return ma != mb ? ma > mb : a.coordinate < b.coordinate;
  });
  return entries;
}

[[nodiscard]] inline Entries top(const Entries& entries, std::int64_t k) {
  Entries sorted = by_magnitude(entries);
  if (k < static_cast<std::int64_t>(sorted.size())) sorted.resize(static_cast<std::size_t>(k));
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry& a, const Entry& b) { return a.coordinate < b.coordinate; });
  return sorted;
}

[[nodiscard]] inline float kth(const Entries& entries, std::int64_t k) {
  if (k <= 0) return std::numeric_limits<float>::infinity();
  if (k > static_cast<std::int64_t>(entries.size())) return 0.0F;
  return std::abs(by_magnitude(entries)[static_cast<std::size_t>(k - 1)].value);
}

[[nodiscard]] inline Entries at_least(const Entries& entries, float threshold) {
  Entries kept;
  for (const Entry& entry : entries) {
    if (std::abs(entry.value) >= threshold) kept.push_back(entry);
  }
  return kept;
}

/// The entries whose coordinate is (`wanted`) or is not among the coordinates of `others`.
[[nodiscard]] inline Entries with_coordinates_in(const Entries& entries, const Entries& others,
                                                 bool wanted = true) {
  std::vector<std::uint32_t> coordinates;
  for (const Entry& other : others) coordinates.push_back(other.coordinate);
  std::sort(coordinates.begin(), coordinates.end());
  Entries kept;
  for (const Entry& entry : entries) {
    const bool found = std::binary_search(coordinates.begin(), coordinates.end(), entry.coordinate);
    if (found == wanted) kept.push_back(entry);
  }
  return kept;
}

using Generator = std::mt19937_64;

[[nodiscard]] inline std::int64_t below(Generator& generator, std::int64_t end) {
  return static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(end));
}

/// At most `wanted` random coordinates of [first, last), fewer when draws coincide, with integer
/// values, so that floats add exactly in any order.
[[nodiscard]] inline SparseVector random_vector(Generator& generator, std::uint32_t first,
                                                std::uint32_t last, int wanted) {
  Oracle entries;
  for (int i = 0; i < wanted; ++i) {
    const auto coordinate = first + static_cast<std::uint32_t>(below(generator, last - first));
    entries[coordinate] = static_cast<double>(below(generator, 2001) - 1000);
  }
  return SparseVector::checked(entries_of(entries));
}

}  // namespace thinwire::test
