#include "traces/landscape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/core/base/random.hpp"
#include "traces/normal.hpp"

namespace thinwire::traces {

namespace {

// Intervals of z: the upper ones matter most, since they hold the popular coordinates.
constexpr double kLeastZ = -3;
constexpr double kMostZ = 5;
constexpr double kStepZ = 0.25;
constexpr int kBlockKinds = 256;
constexpr std::uint32_t kMostCells = 1U << 14U;

enum class LandscapeDraw : std::uint8_t { block, coordinate, rank, noise, walk };

std::vector<double> class_edges() {
  std::vector<double> edges{-12};
  for (double z = kLeastZ; z <= kMostZ; z += kStepZ) edges.push_back(z);
  edges.push_back(12);
  return edges;
}

/// The mean of p over an interval of z.
double mean_probability(const Popularity& popularity, PopularityFamily family, double density,
                        double low, double high) {
  constexpr int kPoints = 16;
  double sum = 0;
  double weight = 0;
  const double from = std::max(low, -8.0);
  const double to = std::min(high, 8.0);
  for (int i = 0; i < kPoints; ++i) {
    const double z = from + (to - from) * (i + 0.5) / kPoints;
    const double here = std::exp(-z * z / 2);
    sum += here * selection_probability(popularity, family, density, z);
    weight += here;
  }
  return sum / weight;
}

/// The class of a draw in (0, 1). It does not fall when the draw grows, since rounded differences do
/// not.
std::size_t class_of(double draw, const std::vector<double>& weights) {
  std::size_t c = 0;
  while (c + 1 < weights.size() && draw >= weights[c]) draw -= weights[c++];
  return c;
}

}  // namespace

Landscape::Landscape(const Profile& profile, PopularityFamily family, const GradientSpace& space,
                     std::int64_t k, std::uint64_t seed)
    : seed_(seed), coordinates_(static_cast<std::uint32_t>(space.coordinates())) {
  const auto n = static_cast<double>(profile.components);
  const double density = static_cast<double>(k) / static_cast<double>(space.components);
  double before = 0;
  for (const ProfileRegion& region : profile.regions) {
    regions_.push_back(static_cast<std::uint32_t>(std::llround(before / n * coordinates_)));
    before += static_cast<double>(region.size);
  }
  regions_.push_back(coordinates_);
  block_ = static_cast<std::uint32_t>(
      std::max<std::int64_t>(1, profile.popularity.block / space.granule));

  const std::vector<double> edges = class_edges();
  const std::vector<double> densities = region_densities(profile, density);
  for (const double here : densities) {
    std::vector<double> rates;
    for (std::size_t c = 0; c + 1 < edges.size(); ++c) {
      const double p = mean_probability(profile.popularity, family, here, edges[c], edges[c + 1]);
      rates.push_back(-std::log1p(-std::min(p, 1 - 1e-12)));
    }
    rates_.push_back(std::move(rates));
  }

  const double shared = std::sqrt(profile.popularity.clustering);
  const double own = std::sqrt(std::max(1e-12, 1 - profile.popularity.clustering));
  for (int kind = 0; kind < kBlockKinds; ++kind) {
    const double mean = shared * normal_quantile((kind + 0.5) / kBlockKinds);
    std::vector<double> weights;
    for (std::size_t c = 0; c + 1 < edges.size(); ++c) {
      weights.push_back(normal_cdf((edges[c + 1] - mean) / own) -
                        normal_cdf((edges[c] - mean) / own));
    }
    std::array<std::uint8_t, kDraws>& known = class_by_draw_.emplace_back();
    for (std::size_t i = 0; i < kDraws; ++i) {
      const std::uint64_t first = i << 56U;
      const std::size_t least = class_of(to_unit(first), weights);
      const std::size_t most = class_of(to_unit(first | (~std::uint64_t{0} >> 8U)), weights);
      known[i] = least == most ? static_cast<std::uint8_t>(least) : kSeveral;
    }
    weights_.push_back(std::move(weights));
  }

  magnitudes_ = {.shape = profile.magnitudes.shape,
                 .scale = profile.magnitudes.scale,
                 .below = profile.magnitudes.below,
                 .most = density > 0 ? 1 / density : 1};
}

void Landscape::scale(double factor) {
  for (std::vector<double>& rates : rates_) {
    for (double& rate : rates) rate *= factor;
  }
}

std::size_t Landscape::kind_of(std::uint32_t block) const {
  return random_bits(seed_, LandscapeDraw::block, block) % kBlockKinds;
}

const std::vector<double>& Landscape::spread(std::uint32_t block) const {
  return weights_[kind_of(block)];
}

void Landscape::draw_classes(std::uint32_t first, std::span<std::uint8_t> classes) const {
  // random_bits() of the seed, this and a coordinate mixes the last into the bits of the others.
  const std::uint64_t key = random_bits(seed_, LandscapeDraw::coordinate);
  for (std::size_t i = 0; i < classes.size();) {
    const std::uint64_t at = first + i;
    const std::size_t kind = kind_of(static_cast<std::uint32_t>(at / block_));
    const std::size_t end = std::min<std::size_t>(classes.size(), i + block_ - at % block_);
    for (; i < end; ++i) {
      const std::uint64_t bits = mix(key ^ (first + i));
      const std::uint8_t known = class_by_draw_[kind][bits >> 56U];
      classes[i] = known != kSeveral
                       ? known
                       : static_cast<std::uint8_t>(class_of(to_unit(bits), weights_[kind]));
    }
  }
}

Ref<const Population> Landscape::population() const {
  Population::Settings settings;
  settings.coordinates = coordinates_;
  const std::uint32_t cells = std::clamp(coordinates_ / 64, 1U, kMostCells);
  settings.cell_width = 1 + (coordinates_ - 1) / cells;
  settings.rates = rates_;
  settings.magnitudes = magnitudes_;

  // A piece ends where a cell, a block or a region ends.
  std::uint32_t at = 0;
  std::uint32_t region = 0;
  while (at < coordinates_) {
    while (regions_[region + 1] <= at) ++region;
    const std::uint32_t cell = at / settings.cell_width;
    const std::uint64_t cell_end = (std::uint64_t{cell} + 1) * settings.cell_width;
    const std::uint64_t block_end = (std::uint64_t{at} / block_ + 1) * block_;
    const auto end = static_cast<std::uint32_t>(
        std::min({cell_end, block_end, std::uint64_t{regions_[region + 1]}}));
    if (settings.pieces.empty() || settings.pieces.back().cell != cell ||
        settings.pieces.back().region != region) {
      settings.pieces.push_back({cell, region, std::vector<float>(classes())});
    }
    std::vector<float>& counts = settings.pieces.back().counts;
    const std::vector<double>& weights = spread(at / block_);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      counts[c] += static_cast<float>((end - at) * weights[c]);
    }
    at = end;
  }
  settings.draw_classes = [landscape = *this](std::uint32_t first,
                                              std::span<std::uint8_t> classes) {
    landscape.draw_classes(first, classes);
  };
  return make_ref<const Population>(std::move(settings));
}

float ThresholdWalk::threshold(int rank, int iteration) const {
  double log =
      drift_.ranks * normal_draw(random_bits(seed_, LandscapeDraw::rank, rank)) +
      drift_.noise * normal_draw(random_bits(seed_, LandscapeDraw::noise, rank, iteration));
  // An autoregressive walk, common to all ranks, whose old terms are negligible.
  const double kept = std::exp(-1 / drift_.memory);
  const int steps = std::min(4000, static_cast<int>(std::ceil(8 * drift_.memory)));
  double walk = 0;
  for (int back = steps; back >= 0; --back) {
    walk = kept * walk + normal_draw(random_bits(seed_, LandscapeDraw::walk, iteration - back));
  }
  log += drift_.walk * std::sqrt(1 - kept * kept) * walk;
  if (start_up_) log += std::log(1 - (1 - drift_.start) * std::exp(-iteration / drift_.filling));
  return static_cast<float>(std::exp(log));
}

}  // namespace thinwire::traces
