// The space in which gradients lie, and how finely a simulation carries it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::inline gradient {

/// n components, carried as coordinates that stand for `granule` consecutive components each.
///
/// The components of one granule have one value, so they are selected and sent together, but on
/// the wire each of them counts: a COO entry of the carried vector costs 2 words a component. With
/// granule 1 a coordinate is a component. A larger granule restricts which gradients can occur, and
/// changes nothing else; it is what lets P = 4096 ranks with k = 1.3 million fit in memory.
struct GradientSpace {
  std::int64_t components = 0;
  std::int64_t granule = 1;

  /// Carried coordinates; the last one may stand for fewer components than the others.
  [[nodiscard]] constexpr std::int64_t coordinates() const {
    return (components + granule - 1) / granule;
  }
  /// First component of a coordinate; `components` for the end of the last one.
  [[nodiscard]] constexpr std::int64_t component(std::int64_t coordinate) const {
    return std::min(components, coordinate * granule);
  }
  /// Components that a coordinate stands for.
  [[nodiscard]] constexpr std::int64_t width(std::int64_t coordinate) const {
    return component(coordinate + 1) - component(coordinate);
  }
  /// The coordinate that a part which begins at `component` begins with: a granule belongs to the
  /// part in which its first component lies.
  [[nodiscard]] constexpr std::uint32_t coordinate(std::int64_t component) const {
    return static_cast<std::uint32_t>((component + granule - 1) / granule);
  }

  /// COO: one index and one value a component.
  [[nodiscard]] constexpr Words coo_words(std::int64_t entries) const {
    return Words(2 * granule * entries);
  }
  /// δ of SparCML in components: above it, COO of 4-byte indexes and values is longer than dense.
  [[nodiscard]] constexpr std::int64_t dense_above() const { return components / 2; }

  friend constexpr bool operator==(const GradientSpace&, const GradientSpace&) = default;
};

/// A half-open range of components.
struct ComponentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] constexpr std::int64_t length() const { return last - first; }
};

/// Where part `index` of `parts` begins when `length` things are cut as evenly as they can be:
/// the first `length % parts` parts are one longer.
[[nodiscard]] constexpr std::int64_t part_begin(std::int64_t length, std::int64_t parts,
                                                std::int64_t index) {
  return (length / parts) * index + std::min(index, length % parts);
}

}  // namespace thinwire::inline gradient
