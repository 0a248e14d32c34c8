// A profile mapped to a space of coordinates: the region, block and popularity class of each. The
// exact and the statistical gradients of a profile share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/gradient/population.hpp"
#include "sim/core/gradient/space.hpp"
#include "traces/profile.hpp"

namespace thinwire::traces {

class Landscape {
 public:
  /// Each rank selects about `k` components. Regions are scaled to fill the space.
  Landscape(const Profile& profile, PopularityFamily family, const GradientSpace& space,
            std::int64_t k, std::uint64_t seed);

  /// The number of popularity classes, which are intervals of z.
  [[nodiscard]] std::size_t classes() const { return weights_.front().size(); }
  /// λ by region and class.
  [[nodiscard]] const std::vector<std::vector<double>>& rates() const { return rates_; }
  [[nodiscard]] const MagnitudeLaw& magnitudes() const { return magnitudes_; }
  /// The first coordinate of each region, and the end.
  [[nodiscard]] const std::vector<std::uint32_t>& regions() const { return regions_; }
  [[nodiscard]] std::uint32_t block() const { return block_; }
  /// The distribution of the coordinates of a block over the classes.
  [[nodiscard]] const std::vector<double>& spread(std::uint32_t block) const;
  /// The classes of the coordinates from `first` on, each drawn from the distribution.
  void draw_classes(std::uint32_t first, std::span<std::uint8_t> classes) const;

  /// Multiplies all rates by a factor.
  void scale(double factor);

  /// The cells of the statistical model, with expected counts.
  [[nodiscard]] Ref<const Population> population() const;

 private:
  static constexpr std::size_t kDraws = 256;     // intervals of draws, by their first 8 bits
  static constexpr std::uint8_t kSeveral = 255;  // draws of the interval have several classes

  [[nodiscard]] std::size_t kind_of(std::uint32_t block) const;

  std::uint64_t seed_;
  std::uint32_t coordinates_;
  std::uint32_t block_ = 1;
  std::vector<std::uint32_t> regions_;
  std::vector<std::vector<double>> rates_;
  std::vector<std::vector<double>> weights_;                     // [popularity of the block][class]
  std::vector<std::array<std::uint8_t, kDraws>> class_by_draw_;  // [popularity of the block]
  MagnitudeLaw magnitudes_;
};

/// The threshold of an exact top-k on a rank in an iteration, with the profile's drift. Without the
/// start-up the training is assumed to have run for long.
class ThresholdWalk {
 public:
  ThresholdWalk(const ThresholdDrift& drift, bool start_up, std::uint64_t seed)
      : drift_(drift), start_up_(start_up), seed_(seed) {}
  [[nodiscard]] float threshold(int rank, int iteration) const;

 private:
  ThresholdDrift drift_;
  bool start_up_;
  std::uint64_t seed_;
};

}  // namespace thinwire::traces
