#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/core/base/random.hpp"
#include "traces/fitting/numeric.hpp"
#include "traces/fitting/steps.hpp"

namespace thinwire::traces {

namespace {

/// With fewer ranks, a share that is never selected cannot be distinguished from a larger ρ.
constexpr int kRanksForNever = 64;

/// Sum of squares of the relative errors of the unions of two ranks and more.
double union_misfit(const Profile& profile, PopularityFamily family,
                    const std::vector<FittedUnion>& unions) {
  double sum = 0;
  for (const FittedUnion& one : unions) {
    if (one.ranks < 2) continue;
    const double error = union_density(profile, family, profile.density, one.ranks) / one.trace - 1;
    sum += error * error;
  }
  return sum;
}

/// Fits ρ and a with the current share that is never selected; returns the sum of both misfits.
double fit_families(Profile& profile, const std::vector<FittedUnion>& unions) {
  Popularity& popularity = profile.popularity;
  popularity.rho = rounded(least(
      [&](double rho) {
        popularity.rho = rho;
        return union_misfit(profile, PopularityFamily::copula, unions);
      },
      0, 0.98));
  popularity.beta_a = rounded(std::exp(least(
      [&](double log_a) {
        popularity.beta_a = std::exp(log_a);
        return union_misfit(profile, PopularityFamily::beta, unions);
      },
      std::log(1e-3), std::log(1e4))));
  return union_misfit(profile, PopularityFamily::copula, unions) +
         union_misfit(profile, PopularityFamily::beta, unions);
}

/// The probability that two ranks both select a coordinate: 2 d minus the union, by the copula.
double both_select(double rho, double density) {
  Profile uniform;
  uniform.components = 1;
  uniform.regions = {{0, 1, 1.0}};
  uniform.popularity.rho = rho;
  return 2 * density - union_density(uniform, PopularityFamily::copula, density, 2);
}

double normal_of(int draw, std::size_t at, int which) {
  return normal_draw(random_bits(1, draw, at, 2 * which), random_bits(1, draw, at, 2 * which + 1));
}

/// The intersection of a region with one of 64 equal parts.
struct Piece {
  std::size_t part = 0;
  std::size_t region = 0;
  double mean = 0;
  double of_blocks = 0;  ///< variance due to the popularity of blocks
};

std::vector<Piece> pieces_of(const Profile& profile) {
  const auto n = static_cast<double>(profile.components);
  const double rho = profile.popularity.rho * profile.popularity.clustering;
  std::vector<Piece> pieces;
  double begin = 0;
  for (std::size_t i = 0; i < profile.regions.size(); ++i) {
    const double end = begin + static_cast<double>(profile.regions[i].size);
    const double d = profile.regions[i].density * profile.density;
    const double both = d > 0 ? both_select(rho, d) : 0;
    const double of_block =
        std::max(0.0, both - d * d) * static_cast<double>(profile.popularity.block);
    for (auto part = static_cast<std::size_t>(begin / n * kImbalanceParts); part < kImbalanceParts;
         ++part) {
      const double low = std::max(begin, n * static_cast<double>(part) / kImbalanceParts);
      const double high = std::min(end, n * static_cast<double>(part + 1) / kImbalanceParts);
      if (low >= end) break;
      if (high > low) pieces.push_back({part, i, (high - low) * d, (high - low) * of_block});
    }
    begin = end;
  }
  return pieces;
}

/// The expected value of the largest of 64 equal parts over the mean: counts vary by chance, with
/// the popularity of blocks and with bursts.
double expected_imbalance(const std::vector<Piece>& pieces, double bursts) {
  constexpr int kDraws = 400;
  double total = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::array<double, kImbalanceParts> counts{};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      const double factor =
          std::exp(bursts * normal_of(draw, piece.region, 0) - bursts * bursts / 2);
      const double mean = piece.mean * factor;
      counts.at(piece.part) +=
          mean + std::sqrt(mean + piece.of_blocks * factor * factor) * normal_of(draw, i, 1);
    }
    double sum = 0;
    for (const double count : counts) sum += std::max(0.0, count);
    total += sum > 0 ? *std::ranges::max_element(counts) * kImbalanceParts / sum : 1;
  }
  return total / kDraws;
}

}  // namespace

void fit_popularity(Profile& profile, const std::vector<FittedUnion>& unions) {
  const int ranks = unions.back().ranks;
  double misfit = fit_families(profile, unions);
  const std::string how = fmt::format("least squares on the union of 2 to {} ranks", ranks);
  provide(profile, {"popularity.rho", "popularity.beta_a"}, {"fitted", how});
  provide(profile, {"popularity.never"},
          {"assumed", fmt::format("0: {} ranks do not identify it", ranks)});
  if (ranks < kRanksForNever) return;
  const Popularity without = profile.popularity;
  const double wanted = misfit / 4;
  Popularity best = without;
  double most = 0;  // density of the densest region
  for (const ProfileRegion& region : profile.regions) most = std::max(most, region.density);
  for (const double never : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5}) {
    if (profile.density * most > 1 - never) break;
    profile.popularity.never = never;
    const double with = fit_families(profile, unions);
    if (with >= misfit) continue;
    misfit = with;
    best = profile.popularity;
  }
  profile.popularity = misfit < wanted ? best : without;
  provide(profile, {"popularity.never"},
          misfit < wanted ? Provenance{"fitted", how}
                          : Provenance{"assumed", "0: another share fits no better"});
}

void fit_clustering(Profile& profile, const Selections& selections) {
  const std::vector<double> pairs = selections.coordinate_pairs();
  Popularity& popularity = profile.popularity;
  const double rho = popularity.rho;
  const auto expected = [&](double clustering) {
    double sum = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double d = selections.region_density(i);
      if (d <= 0 || pairs[i] <= 0) continue;
      sum += pairs[i] * both_select(rho * clustering, d);
    }
    return sum;
  };
  popularity.clustering = rounded(solved(expected, selections.block_pairs(), 0, 1));
  if (popularity.clustering < 1e-6) popularity.clustering = 0;
  provide(profile, {"popularity.clustering"},
          {"fitted", fmt::format("pairs of ranks that select in one block of {}, by the copula",
                                 popularity.block)});
  provide(profile, {"popularity.block"}, {"assumed", "what counts were taken in"});
}

void fit_bursts(Profile& profile, double imbalance) {
  const std::vector<Piece> pieces = pieces_of(profile);
  const auto expected = [&](double bursts) { return expected_imbalance(pieces, bursts); };
  constexpr double kMost = 2;
  profile.popularity.bursts = rounded(solved(expected, imbalance, 0, kMost));
  provide(profile, {"popularity.bursts"},
          {"fitted", "the imbalance of a rank's selection in one iteration over 64 parts"});
}

double expected_imbalance(const Profile& profile) {
  return expected_imbalance(pieces_of(profile), profile.popularity.bursts);
}

}  // namespace thinwire::traces
