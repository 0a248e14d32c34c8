// The statistical model of a sparse gradient: how many entries it has, and where roughly, instead
// of which ones. SparseVector holds either model. Every operation takes constant time or the
// logarithm of the number of cells, but for those on many cuts at once, which take constant time a
// cut.
//
// Counts are drawn by counters: the same vector has the same number of entries in a part of the
// space whoever asks, and a union depends on what is in it, not on the order of the additions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/gradient/population.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// What a statistical vector stands for.
struct Statistics {
  enum class Kind : std::uint8_t {
    all,       ///< every coordinate of the range: an accumulator
    selected,  ///< what ranks selected, united
    kept       ///< of such a union what reaches a threshold
  };
  Ref<const Population> population;
  Kind kind = Kind::all;
  std::uint32_t first = 0;  ///< range of the population in which the entries lie
  std::uint32_t last = 0;
  std::int64_t offset = 0;  ///< of the coordinates from those of the population
  std::uint32_t size = 0;   ///< entries
  std::int64_t gross = 0;   ///< entries of the ranks' selections in it
  std::int64_t level = 0;   ///< sum of the selections' levels, in units of 2^-24
  int sources = 1;          ///< selections in it
  std::uint64_t key = 0;    ///< sum of the selections' keys
  /// Sum over the selections of the ln of the magnitude at level 1, which is the threshold of an
  /// exact top-k; in units of 2^-24.
  std::int64_t log_scale = 0;
  bool common = false;                 ///< all ranks select the same
  const CellCounts* counts = nullptr;  ///< where the entries lie; null: evenly
};

/// A rank's accumulator. `scale` is the magnitude that as many entries reach as are expected at
/// level 1 of the population; `key` names rank and iteration.
[[nodiscard]] Payload statistical_accumulator(Ref<const Population> population, float scale,
                                              std::uint64_t key);
/// So many coordinates drawn evenly from [0, end).
[[nodiscard]] Payload statistical_draw(std::uint32_t count, std::uint32_t end, std::uint64_t key,
                                       bool common);

/// Every coordinate of [first, last).
[[nodiscard]] Payload statistical_all(std::uint32_t first, std::uint32_t last);

/// A part of the entries, drawn at random.
[[nodiscard]] Payload statistical_part(const Payload& payload, std::uint32_t size);
/// Of an accumulator: the sum of the squares of all magnitudes.
[[nodiscard]] double statistical_squares(const Payload& payload);
/// Of an accumulator: by how much magnitudes above `from` exceed it in the mean.
[[nodiscard]] double statistical_mean_excess(const Payload& payload, double from);
/// A draw whose mean is `count`, as of a gamma distribution of that shape.
[[nodiscard]] double statistical_scatter(double count, std::uint64_t key);

/// Unites vectors in [first, last) that come one by one, in constant time each.
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
  std::uint32_t most_ = 0;  // entries of the largest
};

}  // namespace thinwire::inline gradient
