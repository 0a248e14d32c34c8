// Sparse gradients with integer values below 2^18, so that sums of up to 64 of them are exact in
// floats in any order, in shapes that are difficult for schemes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::test {

enum class Shape { random, identical, disjoint, one_region, one_rank, skewed };

inline constexpr std::array kShapes{Shape::random,     Shape::identical, Shape::disjoint,
                                    Shape::one_region, Shape::one_rank,  Shape::skewed};

[[nodiscard]] inline const char* name_of(Shape shape) {
  constexpr std::array kNames{"random",     "identical", "disjoint",
                              "one_region", "one_rank",  "skewed"};
  return kNames[static_cast<std::size_t>(shape)];
}

/// A nonzero integer value, below 2^18 in magnitude.
[[nodiscard]] inline float whole_value(std::uint64_t bits) {
  const auto magnitude = static_cast<float>(1 + (bits >> 8U) % ((std::uint64_t{1} << 18U) - 1));
  return (bits & 1U) != 0 ? magnitude : -magnitude;
}

/// The gradient of one rank in one iteration, with at most `wanted` entries.
[[nodiscard]] inline SparseVector shaped_gradient(Shape shape, std::uint32_t coordinates, int ranks,
                                                  int rank, int iteration, int wanted) {
  if (shape == Shape::one_rank && rank != ranks / 2) return {};
  const int drawn_for = shape == Shape::identical ? 0 : rank;
  Entries drawn;
  for (int i = 0; i < wanted; ++i) {
    const std::uint64_t bits = random_bits(99, static_cast<int>(shape), drawn_for, iteration, i);
    const double unit = to_unit(bits);
    double place = unit * coordinates;
    if (shape == Shape::one_region) place = 0.4 * coordinates + unit * coordinates / 32;
    if (shape == Shape::skewed) place = unit * unit * unit * unit * coordinates;
    auto coordinate = static_cast<std::uint32_t>(place);
    if (shape == Shape::disjoint) {
      const auto p = static_cast<std::uint32_t>(ranks);
      coordinate = coordinate / p * p + static_cast<std::uint32_t>(rank);
      if (coordinate >= coordinates) continue;
    }
    drawn.push_back({coordinate, whole_value(mix(bits))});
  }
  // Of the draws of one coordinate the last one counts.
  std::ranges::stable_sort(drawn, {}, &Entry::coordinate);
  Entries entries;
  for (const Entry& entry : drawn) {
    if (!entries.empty() && entries.back().coordinate == entry.coordinate) entries.pop_back();
    entries.push_back(entry);
  }
  return SparseVector::checked(std::move(entries));
}

/// A dense gradient with nonzero values at all coordinates.
[[nodiscard]] inline DenseBlock dense_gradient(std::uint32_t coordinates, int rank) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < coordinates; ++i) {
    values.push_back(whole_value(random_bits(98, rank, i)) * 1e-3F);
  }
  return {0, std::move(values)};
}

/// A sparse vector that holds every coordinate.
[[nodiscard]] inline SparseVector full_gradient(std::uint32_t coordinates, int rank,
                                                int iteration) {
  Entries entries;
  for (std::uint32_t i = 0; i < coordinates; ++i) {
    entries.push_back({i, whole_value(random_bits(97, rank, iteration, i))});
  }
  return SparseVector::checked(entries);
}

}  // namespace thinwire::test
