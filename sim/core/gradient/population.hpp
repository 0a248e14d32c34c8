// How often the coordinates of a gradient are selected, as counts instead of lists. Statistical
// gradient values (statistical.hpp) draw their sizes from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/shared.hpp"
#include "sim/core/gradient/cut_plan.hpp"
#include "sim/core/gradient/sparse_body.hpp"

namespace thinwire::inline gradient {

/// A rank's magnitudes: the number that reach x times its threshold is R(x) k, where k reach the
/// threshold itself. R is a stretched exponential in ln x above it and a power law below.
struct MagnitudeLaw {
  double shape = 1;  ///< x >= 1: R = exp(-(ln(x)/scale)^shape)
  double scale = 0.1;
  double below = 4;   ///< x < 1: R = x^-below, up to `most`
  double most = 100;  ///< n/k
  double unit = 1;    ///< x = 1, in thresholds of the law

  [[nodiscard]] double share(double x) const;
  /// The x whose share R(x) is `share`, in (0, most].
  [[nodiscard]] double ratio(double share) const;
};

/// The coordinates of one cell that lie in one region, by popularity class.
struct PopulationPiece {
  std::uint32_t cell = 0;
  std::uint32_t region = 0;
  std::vector<float> counts;  ///< number of coordinates per class
};

/// Expected counts up to each cell, and their derivative with respect to the level.
struct CellCounts {
  double level = 0;
  std::vector<double> united;  ///< [cells + 1]: expected entries before the cell
  std::vector<double> slope;   ///< [cells + 1]: derivative with respect to the level
  double dispersion = 1;       ///< variance over mean of a rank's count in a part of the space
};

/// The probability that a selection has an entry in a block.
class BlockChances {
 public:
  /// The given chances by block; see nonzero() and share().
  BlockChances(std::span<const float> nonzero, std::span<const float> shares)
      : nonzero_(nonzero), shares_(shares) {}
  /// The chances for a selection that draws this share of the coordinates evenly.
  BlockChances(const BlockSize& size, double density);

  [[nodiscard]] double nonzero(std::uint32_t block) const {
    return nonzero_.empty() ? even_nonzero_ : static_cast<double>(nonzero_[block]);
  }
  /// The expected share of all entries that are in the block, if it has any.
  [[nodiscard]] double share(std::uint32_t block) const {
    return shares_.empty() ? even_share_ : static_cast<double>(shares_[block]);
  }

 private:
  std::span<const float> nonzero_;
  std::span<const float> shares_;
  double even_nonzero_ = 0;
  double even_share_ = 0;
};

/// The coordinates are divided into cells of equal width. Within a region all coordinates of one
/// popularity class have one rate λ: selections whose levels sum to ℓ hold such a coordinate with
/// probability 1 - exp(-λℓ). A rank that selects its k largest has level 1, so the union of P ranks
/// has level P.
class Population final : public Body {
 public:
  /// The parameters of a population.
  struct Settings {
    std::uint32_t coordinates = 0;
    std::uint32_t cell_width = 1;
    std::vector<PopulationPiece> pieces;     ///< sorted by cell
    std::vector<std::vector<double>> rates;  ///< [region][class]: λ, finite
    MagnitudeLaw magnitudes;
    /// Sets the classes of the coordinates from `first` on, which the counts only expect. Without it,
    /// the classes of a piece are spread evenly.
    std::function<void(std::uint32_t first, std::span<std::uint8_t> classes)> draw_classes = {};
    /// Set for selections that take just their share from each bucket; the first begins at `buckets_begin`.
    std::optional<Buckets> buckets = {};
    std::uint32_t buckets_begin = 0;
  };
  explicit Population(Settings settings);
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;
  ~Population() override;

  [[nodiscard]] std::uint32_t coordinates() const { return settings_.coordinates; }
  [[nodiscard]] std::uint32_t cell_width() const { return settings_.cell_width; }
  /// The number of coordinates with a positive rate.
  [[nodiscard]] double present() const { return present_; }
  [[nodiscard]] const MagnitudeLaw& magnitudes() const { return settings_.magnitudes; }

  /// The expected number of entries in [first, last) of a union of the given level.
  [[nodiscard]] double united(double first, double last, double level) const;
  /// The same in the whole space: exact, and independent of the cells.
  [[nodiscard]] double united(double level) const;
  /// Derivative of the first united() with respect to the level.
  [[nodiscard]] double slope(double first, double last, double level) const;
  /// The inverse: the level at which the whole space has the given expected number of entries.
  [[nodiscard]] double level_of(double entries) const;
  /// The same in [first, last).
  [[nodiscard]] double level_of(double first, double last, double entries) const;
  /// The magnitude, in thresholds, of the smallest entry selected at a level, and the inverse.
  [[nodiscard]] double ratio_of_level(double level) const;
  [[nodiscard]] double level_of_ratio(double ratio) const;

  /// Counts at the nearest level of a grid; cached.
  [[nodiscard]] const CellCounts& counts(double level) const;
  /// The expected number of entries before a coordinate.
  [[nodiscard]] double before(const CellCounts& counts, double coordinate) const;

  /// The plan of cuts of this population's vectors. The last few are kept, and valid until the next
  /// call.
  [[nodiscard]] const CutPlan& cut_plan(const CutSpace& space,
                                        std::span<const std::int64_t> cuts) const;
  /// That of the parts of the whole space in which entries are evenly spaced: of where they begin,
  /// and of the end of the space. Kept.
  [[nodiscard]] const CutPlan& cell_plan() const;

  /// Counts of the coordinates at which the sum over `ranks` ranks, each selecting at level 1,
  /// reaches `ratio` thresholds; cached.
  [[nodiscard]] const CellCounts& reaching(int ranks, double ratio) const;
  /// The ratio that the given expected number of sums in the whole space reaches.
  [[nodiscard]] double ratio_reached_by(int ranks, double entries) const;

  /// The coordinates for a selection that takes the same number from each bucket.
  struct InBuckets {
    Ref<const Population> population;  ///< each bucket has its share at level 1
    double filled = 1;                 ///< entries that the buckets have, of those wanted
  };
  /// The figures of buckets that begin at `first`, in [first, last). A bucket whose coordinates are never
  /// selected has fewer entries than its share. Of more than half a million buckets, neighbours are
  /// alike. Kept.
  [[nodiscard]] const InBuckets& in_buckets(std::uint32_t first, std::uint32_t last,
                                            const Buckets& buckets) const;

  /// The coordinates for a random share of a selection at a level, which each rank draws for itself:
  /// at level 1 a coordinate is in it with the selection's probability times `share`. Level and share
  /// are rounded by at most 1.1%. Kept.
  [[nodiscard]] Ref<const Population> thinned(double level, double share) const;

  /// The chances of a selection at a level in the blocks of a space that begins at `first`. Valid until
  /// the chances of other blocks or another level are asked for.
  [[nodiscard]] BlockChances chances(std::uint32_t first, const BlockSize& size,
                                     double level) const;

  /// Over all coordinates whose magnitude x, in thresholds, exceeds `from`: the sum of x - from for
  /// power 1, and of x² for power 2.
  [[nodiscard]] double excess(double from, int power) const;

 private:
  /// Sampled magnitudes of the sum over many ranks, by the probability that one rank selects.
  struct Sums {
    std::vector<double> probability;         // of the grid points, increasing
    std::vector<std::vector<float>> sorted;  // magnitudes, given that at least one rank selects
  };

  /// At a level: logarithms of the expected entries in the whole space, which grow with the level,
  /// and of the ratio, which falls.
  struct GridPoint {
    double entries = 0;
    double ratio = 0;
  };

  /// The expected entries of a part of the space, at levels around `level`.
  struct Line {
    double level = 0;
    double entries = 0;
    double slope = 0;

    [[nodiscard]] double at(double other) const {
      return std::max(0.0, entries + slope * (other - level));
    }
  };

  /// The level at which pieces have so many entries, or as many as they have.
  struct LevelOfShare {
    double level = 0;
    double entries = 0;
  };

  /// For each block the sum of its rates, which is minus the logarithm of the probability that a selection
  /// of level 1 has no entry in it, and the expected entries.
  struct BlockRates {
    std::uint32_t first = 0;
    BlockSize size;
    std::vector<float> rates = {};
    std::vector<float> expected = {};
    double level = -1;                ///< of what follows
    std::vector<float> nonzero = {};  ///< the probability of an entry
    std::vector<float> shares = {};   ///< of all entries, if there is one
  };

  /// Calls visit(piece, from, to) for the pieces in [first, last) and the coordinates there.
  template <class Visit>
  void each_piece(std::uint32_t first, std::uint32_t last, Visit visit) const;
  [[nodiscard]] InBuckets made_in_buckets(std::uint32_t first, std::uint32_t last,
                                          const Buckets& buckets) const;
  /// A width of cells that divides the width of buckets, if it does not make too many cells.
  [[nodiscard]] std::uint32_t cell_in_buckets(std::int64_t width) const;
  /// The pieces of cells of another width, by drawn classes.
  [[nodiscard]] std::vector<PopulationPiece> finer_pieces(std::uint32_t first, std::uint32_t last,
                                                          std::uint32_t width) const;
  [[nodiscard]] BlockRates block_rates(std::uint32_t first, const BlockSize& size) const;
  /// The rates of blocks where buckets have just their shares, by the probabilities of coordinates.
  [[nodiscard]] std::vector<float> rates_of_shares(std::uint32_t first, const BlockSize& size,
                                                   std::span<const float> selected) const;
  [[nodiscard]] LevelOfShare level_of_share(std::span<const PopulationPiece> pieces,
                                            double entries) const;
  [[nodiscard]] Line entries_near(double first, double last, double level) const;
  [[nodiscard]] const GridPoint& grid_point(std::size_t i) const;
  [[nodiscard]] CellCounts counts_of(const std::vector<std::vector<double>>& weight,
                                     const std::vector<std::vector<double>>& slope) const;
  /// The number of cells before a coordinate, including the fraction of its own cell.
  [[nodiscard]] double cells_before(double coordinate) const;
  [[nodiscard]] const Sums& sums(int ranks) const;
  /// [region][class]: probability that the sum of the ranks reaches `ratio`.
  [[nodiscard]] std::vector<std::vector<double>> reach(int ranks, double ratio) const;

  Settings settings_;
  std::vector<std::vector<double>> totals_;  // [region][class]
  double present_ = 0;
  double selected_ = 0;                                 // united(1)
  std::size_t grid_begin_ = 0;                          // of the levels that are in the grid
  std::vector<double> grid_levels_;                     // logarithms, increasing
  mutable std::vector<std::optional<GridPoint>> grid_;  // [level]; those that were asked for
  mutable std::optional<double> squares_;               // excess(0, 2)
  mutable std::map<int, std::unique_ptr<CellCounts>> counts_;
  mutable std::map<std::pair<int, double>, std::unique_ptr<CellCounts>> reaching_;
  mutable std::map<std::pair<int, double>, double> reached_by_;
  mutable std::map<int, std::unique_ptr<Sums>> sums_;
  mutable std::vector<std::unique_ptr<const CutPlan>> cut_plans_;  // the last used first
  mutable std::unique_ptr<const CutPlan> cell_plan_;
  mutable std::map<std::array<std::int64_t, 5>, InBuckets> in_buckets_;
  mutable std::map<std::pair<long, long>, Ref<const Population>> thinned_;  // by level and share
  mutable std::optional<BlockRates> block_rates_;
};

}  // namespace thinwire::inline gradient
