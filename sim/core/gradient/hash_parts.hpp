// Parts of a sparse vector by a hash of the coordinates (h0 of ZEN, OSDI 2025, Algorithm 1). The
// hash is the same on all ranks, so a coordinate is in the same part of every vector, and spreads
// coordinates evenly over the parts wherever they lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

/// The part, of so many, that a coordinate is in.
[[nodiscard]] constexpr std::uint32_t part_by_hash(std::uint32_t coordinate, int parts) {
  constexpr std::uint64_t kSeed = 0x5a656eU;
  const std::uint64_t high = mix(kSeed ^ (std::uint64_t{coordinate} << 32U)) >> 32U;
  return static_cast<std::uint32_t>(high * static_cast<std::uint64_t>(parts) >> 32U);
}

/// All parts of a vector; each has its coordinates in order. The statistical model draws how many
/// entries each part has.
[[nodiscard]] std::vector<SparseVector> parts_by_hash(const SparseVector& vector, int parts);
/// The vector of which these are the parts, or sums of the same parts of several vectors.
[[nodiscard]] SparseVector joined_by_hash(std::span<const SparseVector> parts);

/// The coordinates of each part, of those from 0 to `coordinates`. They are computed once in a
/// thread for as long as the same ones are asked for.
[[nodiscard]] const std::vector<std::vector<std::uint32_t>>& coordinates_by_hash(
    std::uint32_t coordinates, int parts);

}  // namespace thinwire::inline gradient
