// The statistical model of a sparse gradient: the number of its entries and their approximate
// location instead of the entries. SparseVector holds either model. Every operation takes constant
// time or the logarithm of the number of cells, except those on many cuts at once, which take
// constant time per cut.
//
// Counts are drawn by counters: a vector has the same number of entries in a part of the space for
// every caller, and a union depends on its operands, not on the order of the additions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/gradient/population.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// The description of a statistical vector.
struct Statistics {
  /// Levels and logarithms are summed as integers, so that the order of additions does not matter.
  static constexpr double kUnit = 0x1p-24;

  enum class Kind : std::uint8_t {
    all,       ///< every coordinate of the range: an accumulator
    selected,  ///< the union of ranks' selections
    kept       ///< the part of such a union that reaches a threshold
  };
  Ref<const Population> population;
  Kind kind = Kind::all;
  std::uint32_t first = 0;  ///< range of the population in which the entries lie
  std::uint32_t last = 0;
  std::int64_t offset = 0;  ///< coordinate minus the population's coordinate
  std::uint32_t size = 0;   ///< entries
  std::int64_t gross = 0;   ///< entries of all selections, before the union
  std::int64_t level = 0;   ///< sum of the selections' levels, in units of kUnit
  int sources = 1;          ///< number of selections
  std::uint64_t key = 0;    ///< sum of the selections' keys
  /// Sum over the selections of the ln of the magnitude at level 1, which is the threshold of an
  /// exact top-k; in units of kUnit.
  std::int64_t log_scale = 0;
  bool common = false;                 ///< all ranks select the same coordinates
  double share = 1;                    ///< of the range's coordinates: a part by hash has fewer
  const CellCounts* counts = nullptr;  ///< location of the entries; null: evenly spread
};

/// A rank's accumulator. `scale` is the magnitude reached by as many entries as are expected at
/// level 1 of the population; `key` identifies rank and iteration.
[[nodiscard]] Payload statistical_accumulator(Ref<const Population> population, float scale,
                                              std::uint64_t key);
/// A selection of `count` coordinates drawn evenly from [0, end).
[[nodiscard]] Payload statistical_draw(std::uint32_t count, std::uint32_t end, std::uint64_t key,
                                       bool common);

/// Every coordinate of [first, last).
[[nodiscard]] Payload statistical_all(std::uint32_t first, std::uint32_t last);

/// A subset of `size` entries: the same of all ranks for coordinates that they have in common.
[[nodiscard]] Payload statistical_part(const Payload& payload, std::uint32_t size);
/// A random subset of `size` entries of a rank's selection, which each rank draws for itself.
[[nodiscard]] Payload statistical_thinned(const Payload& payload, std::uint32_t size);
/// The sum of the squares of all magnitudes of an accumulator.
[[nodiscard]] double statistical_squares(const Payload& payload);
/// The mean of magnitude - from over the entries of an accumulator above `from`.
[[nodiscard]] double statistical_mean_excess(const Payload& payload, double from);
/// The entries that are expected before each of the coordinates, up to a common factor.
[[nodiscard]] std::vector<double> statistical_expected_before(
    const Payload& payload, std::span<const std::int64_t> coordinates);
/// The squares of magnitudes, likewise, of the entries of a selection.
[[nodiscard]] std::vector<double> statistical_squares_before(
    const Payload& payload, std::span<const std::int64_t> coordinates);
/// The vector of another rank whose vector has as many entries. Rank 0 is the one that has it.
[[nodiscard]] Payload statistical_of_another_rank(const Payload& payload, int rank);
/// A draw from a gamma distribution of shape and mean `count`.
[[nodiscard]] double statistical_scatter(double count, std::uint64_t key);

/// Unites vectors in [first, last) that come one by one, in constant time per vector.
class StatisticalUnion {
 public:
  void add(const Payload& payload);
  [[nodiscard]] bool empty() const { return sources_ == 0; }
  [[nodiscard]] Payload finish(std::int64_t first, std::int64_t last);

 private:
  Ref<const Population> population_;
  Statistics::Kind kind_ = Statistics::Kind::selected;
  std::int64_t offset_ = 0;
  std::int64_t gross_ = 0;
  std::int64_t level_ = 0;
  std::int64_t sources_ = 0;
  std::uint64_t key_ = 0;
  std::int64_t log_scale_ = 0;
  bool common_ = false;
  double share_ = 1;
  std::uint32_t most_ = 0;  // entries of the largest operand
};

}  // namespace thinwire::inline gradient
