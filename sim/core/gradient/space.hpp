// The space of gradients, and the resolution at which a simulation carries it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::inline gradient {

/// The bits of a value and of an index on the wire. They change the length of messages, not the
/// values: a simulation's values are floats, as if sums were rounded nowhere.
struct Precision {
  int value_bits = 32;  ///< 16: BF16
  int index_bits = 32;  ///< 64 reaches more than 4 billion components

  /// The words of a value, of an index, and of a COO entry.
  [[nodiscard]] constexpr double value() const { return value_bits / 32.0; }
  [[nodiscard]] constexpr double index() const { return index_bits / 32.0; }
  [[nodiscard]] constexpr double entry() const { return (value_bits + index_bits) / 32.0; }
  /// The share of the components above which COO is longer than dense values.
  [[nodiscard]] constexpr double dense_above() const { return value() / entry(); }
  /// Whether messages may end within a word, and are rounded up.
  [[nodiscard]] constexpr bool rounds() const {
    return value_bits % 32 != 0 || index_bits % 32 != 0;
  }

  friend constexpr bool operator==(const Precision&, const Precision&) = default;
};

/// n components, carried as coordinates that stand for `granule` consecutive components each.
///
/// All components of one granule have one value, so they are selected and sent together, but each
/// counts on the wire: a COO entry of the carried vector costs as much per component. With granule
/// 1 a coordinate is a component. A larger granule restricts which gradients can occur and changes
/// nothing else; it lets P = 4096 ranks with k = 1.3 million fit in memory.
struct GradientSpace {
  std::int64_t components = 0;
  std::int64_t granule = 1;
  Precision precision = {};

  /// The number of carried coordinates; the last may stand for fewer components than the others.
  [[nodiscard]] constexpr std::int64_t coordinates() const {
    return (components + granule - 1) / granule;
  }
  /// The first component of a coordinate; `components` for the end of the last one.
  [[nodiscard]] constexpr std::int64_t component(std::int64_t coordinate) const {
    return std::min(components, coordinate * granule);
  }
  /// The number of components that a coordinate stands for.
  [[nodiscard]] constexpr std::int64_t width(std::int64_t coordinate) const {
    return component(coordinate + 1) - component(coordinate);
  }
  /// The first coordinate of a part that begins at `component`: a granule belongs to the part that
  /// holds its first component.
  [[nodiscard]] constexpr std::uint32_t coordinate(std::int64_t component) const {
    return static_cast<std::uint32_t>((component + granule - 1) / granule);
  }

  /// The length in COO: one index and one value per component.
  [[nodiscard]] constexpr Words coo_words(std::int64_t entries) const {
    return entry_words(granule * entries);
  }
  /// The length of the entries of so many components, of their values alone, and of their indexes.
  [[nodiscard]] constexpr Words entry_words(std::int64_t count) const {
    return whole_words(count, precision.value_bits + precision.index_bits);
  }
  [[nodiscard]] constexpr Words value_words(std::int64_t count) const {
    return whole_words(count, precision.value_bits);
  }
  [[nodiscard]] constexpr Words index_words(std::int64_t count) const {
    return whole_words(count, precision.index_bits);
  }

  friend constexpr bool operator==(const GradientSpace&, const GradientSpace&) = default;

 private:
  [[nodiscard]] static constexpr Words whole_words(std::int64_t count, int bits) {
    return Words((count * bits + 31) / 32);
  }
};

/// A half-open range of components.
struct ComponentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] constexpr std::int64_t length() const { return last - first; }
};

/// The begin of part `index` when `length` elements are cut into `parts` parts as equal as
/// possible: the first `length % parts` parts are one longer.
[[nodiscard]] constexpr std::int64_t part_begin(std::int64_t length, std::int64_t parts,
                                                std::int64_t index) {
  return (length / parts) * index + std::min(index, length % parts);
}
/// The length of that part.
[[nodiscard]] constexpr std::int64_t part_length(std::int64_t length, std::int64_t parts,
                                                 std::int64_t index) {
  return length / parts + (index < length % parts ? 1 : 0);
}

}  // namespace thinwire::inline gradient
