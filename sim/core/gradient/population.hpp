// How often the coordinates of a gradient are selected, counted instead of listed: what statistical
// gradient values (statistical.hpp) draw their sizes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/base/shared.hpp"

namespace thinwire::inline gradient {

/// How many magnitudes of a rank reach x times its threshold, as a multiple R(x) of the k that
/// reach the threshold itself: a stretched exponential in ln x above it, a power law below.
struct MagnitudeLaw {
  double shape = 1;  ///< x >= 1: R = exp(-(ln(x)/scale)^shape)
  double scale = 0.1;
  double below = 4;   ///< x < 1: R = x^-below, up to `most`
  double most = 100;  ///< n/k

  [[nodiscard]] double share(double x) const;
  /// The x of a share in (0, most].
  [[nodiscard]] double ratio(double share) const;
};

/// Coordinates of one cell that lie in one region, by popularity class.
struct PopulationPiece {
  std::uint32_t cell = 0;
  std::uint32_t region = 0;
  std::vector<float> counts;  ///< coordinates of each class
};

/// Expected counts up to each cell, and what they change with the level.
struct CellCounts {
  double level = 0;
  std::vector<double> united;  ///< [cells + 1]: expected entries before the cell
  std::vector<double> slope;   ///< [cells + 1]: derivative with respect to the level
  double dispersion = 1;       ///< variance over mean of a rank's count in a part of the space
};

/// The coordinates lie in cells of equal width. Within a region those of one popularity class have
/// one rate λ: selections whose levels add up to ℓ hold such a coordinate with probability
/// 1 - exp(-λℓ). One rank that selects its k largest has level 1, so the union of P ranks level P.
class Population final : public Body {
 public:
  /// What a population is made of.
  struct Settings {
    std::uint32_t coordinates = 0;
    std::uint32_t cell_width = 1;
    std::vector<PopulationPiece> pieces;     ///< by cell; those of a cell follow one another
    std::vector<std::vector<double>> rates;  ///< [region][class]: λ, finite
    MagnitudeLaw magnitudes;
  };
  explicit Population(Settings settings);

  [[nodiscard]] std::uint32_t coordinates() const { return settings_.coordinates; }
  [[nodiscard]] std::uint32_t cell_width() const { return settings_.cell_width; }
  /// Coordinates that may be selected at all.
  [[nodiscard]] double present() const { return present_; }
  [[nodiscard]] const MagnitudeLaw& magnitudes() const { return settings_.magnitudes; }

  /// Expected entries in [first, last) of a union of the level.
  [[nodiscard]] double united(double first, double last, double level) const;
  /// Expected entries in the whole space: exact, and without cells.
  [[nodiscard]] double united(double level) const;
  /// Derivative of the first united() with respect to the level.
  [[nodiscard]] double slope(double first, double last, double level) const;
  /// The level at which the whole space is expected to have so many entries.
  [[nodiscard]] double level_of(double entries) const;
  /// The same in a part of it.
  [[nodiscard]] double level_of(double first, double last, double entries) const;
  /// Magnitude, in thresholds, of what is selected from a level on, and back.
  [[nodiscard]] double ratio_of_level(double level) const;
  [[nodiscard]] double level_of_ratio(double ratio) const;

  /// Counts near a level; kept.
  [[nodiscard]] const CellCounts& counts(double level) const;
  /// Expected entries before a coordinate.
  [[nodiscard]] double before(const CellCounts& counts, double coordinate) const;

  /// Counts of the coordinates at which the sum of what `ranks` ranks selected at level 1 reaches
  /// `ratio` thresholds; kept.
  [[nodiscard]] const CellCounts& reaching(int ranks, double ratio) const;
  /// The ratio that so many sums in the whole space are expected to reach.
  [[nodiscard]] double ratio_reached_by(int ranks, double entries) const;

  /// Sum over all coordinates of x^power, x the magnitude in thresholds, for power 1 or 2, of those
  /// above `from`; of power 1 what exceeds `from`.
  [[nodiscard]] double excess(double from, int power) const;

 private:
  /// Magnitudes of sums of what many ranks selected, by how probable it is that one does.
  struct Sums {
    std::vector<double> probability;         // of the grid, increasing
    std::vector<std::vector<float>> sorted;  // magnitudes where one rank at least selects
  };

  [[nodiscard]] CellCounts counts_of(const std::vector<std::vector<double>>& weight,
                                     const std::vector<std::vector<double>>& slope) const;
  /// How many cells, and which part of one, lie before a coordinate.
  [[nodiscard]] double cells_before(double coordinate) const;
  [[nodiscard]] const Sums& sums(int ranks) const;
  /// [region][class]: probability that the sum reaches `ratio`.
  [[nodiscard]] std::vector<std::vector<double>> reach(int ranks, double ratio) const;

  Settings settings_;
  std::vector<std::vector<double>> totals_;  // [region][class]
  double present_ = 0;
  // ln of levels, of the entries in the whole space there, and of the ratios.
  std::vector<double> grid_levels_;
  std::vector<double> grid_entries_;
  std::vector<double> grid_ratios_;
  mutable std::map<int, std::unique_ptr<CellCounts>> counts_;
  mutable std::map<std::pair<int, double>, std::unique_ptr<CellCounts>> reaching_;
  mutable std::map<std::pair<int, double>, double> reached_by_;
  mutable std::map<int, std::unique_ptr<Sums>> sums_;
};

}  // namespace thinwire::inline gradient
