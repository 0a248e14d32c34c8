// A profile mapped to a space of coordinates: the region, block and popularity class of each. The
// exact and the statistical gradients of a profile share it.
#pragma once

#include <cstdint>
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
  /// The class of a coordinate, drawn from that distribution.
  [[nodiscard]] std::size_t class_of(std::uint32_t coordinate) const;

  /// Multiplies all rates by a factor.
  void scale(double factor);

  /// The cells of the statistical model, with expected counts.
  [[nodiscard]] Ref<const Population> population() const;

 private:
  std::uint64_t seed_;
  std::uint32_t coordinates_;
  std::uint32_t block_ = 1;
  std::vector<std::uint32_t> regions_;
  std::vector<std::vector<double>> rates_;
  std::vector<std::vector<double>> weights_;  // [popularity of the block][class]
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
