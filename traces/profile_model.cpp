#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "traces/normal.hpp"
#include "traces/profile.hpp"

namespace thinwire::traces {

namespace {

/// A probability of 0 or 1 needs no distribution.
bool is_certain(double density) { return density <= 0 || density >= 1; }

double copula_probability(double rho, double density, double z) {
  if (is_certain(density)) return std::clamp(density, 0.0, 1.0);
  return normal_cdf((normal_quantile(density) + std::sqrt(rho) * z) / std::sqrt(1 - rho));
}

/// The quantile of Beta(a, b) for a given tail probability, in double precision. Far out the
/// density is a power law, which is inverted directly; elsewhere Newton's method is used.
double beta_quantile(double a, double b, double tail, bool lower) {
  namespace bm = boost::math;
  constexpr double kFar = 1e-9;  // relative error of the power law
  const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  if (lower) {
    const double p = std::exp((std::log(tail) + std::log(a) + log_beta) / a);
    if (p * (1 + std::abs(b - 1)) < kFar) return p;
  } else {
    const double q = std::exp((std::log(tail) + std::log(b) + log_beta) / b);
    if (q * (1 + std::abs(a - 1)) < kFar) return 1 - q;
  }
  const auto policy =
      bm::policies::make_policy(bm::policies::evaluation_error<bm::policies::ignore_error>(),
                                bm::policies::overflow_error<bm::policies::ignore_error>(),
                                bm::policies::promote_double<false>());
  return lower ? bm::ibeta_inv(a, b, tail, static_cast<double*>(nullptr), policy)
               : bm::ibetac_inv(a, b, tail, static_cast<double*>(nullptr), policy);
}

double beta_probability(double a, double density, double z) {
  if (is_certain(density)) return std::clamp(density, 0.0, 1.0);
  const double b = a * (1 - density) / density;
  // The smaller tail is used, which double precision resolves, as far as it can.
  constexpr double kEnd = 37;
  const double tail = normal_cdf(-std::min(std::abs(z), kEnd));
  return beta_quantile(a, b, tail, z < 0);
}

/// The share that is never selected. It shrinks if ranks select more than the other coordinates.
double never_selected(const Popularity& popularity, double density) {
  return std::min(popularity.never, 1 - std::clamp(density, 0.0, 1.0));
}

/// E[1 - (1 - p)^ranks] for the copula. The trapezoid rule is accurate because the Gaussian weight
/// vanishes at both ends, once the step is small compared with the width of p's rise.
double copula_union(double rho, double density, double ranks) {
  if (is_certain(density) || rho <= 0) {
    return -std::expm1(ranks * std::log1p(-std::clamp(density, 0.0, 1.0)));
  }
  constexpr double kEnd = 8.5;
  const double quantile = normal_quantile(density);
  const double step = std::clamp(0.05 * std::sqrt((1 - rho) / rho), 1e-4, 0.025);
  const int steps = static_cast<int>(std::ceil(kEnd / step));
  double sum = 0;
  double weights = 0;
  for (int i = -steps; i <= steps; ++i) {
    const double z = i * step;
    const double weight = std::exp(-z * z / 2);
    const double p = normal_cdf((quantile + std::sqrt(rho) * z) / std::sqrt(1 - rho));
    sum -= weight * std::expm1(ranks * std::log1p(-p));
    weights += weight;
  }
  return sum / weights;
}

/// ln Γ(x + a) - ln Γ(x), accurate also when both are large and close to each other.
double log_gamma_step(double x, double a) {
  if (x < 1000) return std::lgamma(x + a) - std::lgamma(x);
  const double y = x + a;
  return (x - 0.5) * std::log1p(a / x) + a * (std::log(y) - 1) + (1 / y - 1 / x) / 12 -
         (1 / (y * y * y) - 1 / (x * x * x)) / 360;
}

/// 1 - B(a, b + ranks) / B(a, b), from the known moments of a Beta distribution.
double beta_union(double a, double density, double ranks) {
  if (is_certain(density)) return std::clamp(density, 0.0, 1.0);
  const double b = a * (1 - density) / density;
  return -std::expm1(log_gamma_step(b, a) - log_gamma_step(b + ranks, a));
}

}  // namespace

double selection_probability(const Popularity& popularity, PopularityFamily family, double density,
                             double z) {
  const double never = never_selected(popularity, density);
  if (never > 0) {
    const double share = normal_cdf(z);
    if (share < never) return 0;
    // z becomes the popularity among the others. When normal_cdf(-z) is 0, z itself is good enough.
    const double above = normal_cdf(-z) / (1 - never);
    if (above >= 1) return 0;
    if (above > 0) z = -normal_quantile(above);
    density = std::min(density / (1 - never), 1.0);
  }
  return family == PopularityFamily::copula ? copula_probability(popularity.rho, density, z)
                                            : beta_probability(popularity.beta_a, density, z);
}

std::vector<double> region_densities(const Profile& profile, double density) {
  std::vector<double> densities(profile.regions.size(), 0.0);
  std::vector<bool> full(profile.regions.size(), false);
  double wanted = density * static_cast<double>(profile.components);
  // A region whose proportion would exceed 1 is full, and the others share the rest.
  for (bool changed = true; changed;) {
    changed = false;
    double weight = 0;
    for (std::size_t i = 0; i < densities.size(); ++i) {
      if (!full[i]) {
        weight += static_cast<double>(profile.regions[i].size) * profile.regions[i].density;
      }
    }
    const double factor = weight > 0 ? wanted / weight : 0;
    for (std::size_t i = 0; i < densities.size(); ++i) {
      if (full[i]) continue;
      densities[i] = factor * profile.regions[i].density;
      if (densities[i] < 1) continue;
      densities[i] = 1;
      full[i] = true;
      changed = true;
    }
    if (!changed && weight > 0) return densities;
    wanted = density * static_cast<double>(profile.components);
    for (std::size_t i = 0; i < densities.size(); ++i) {
      if (full[i]) wanted -= static_cast<double>(profile.regions[i].size);
    }
  }
  // All regions with a positive density are full: the rest is spread evenly over the others.
  double rest = 0;
  for (std::size_t i = 0; i < densities.size(); ++i) {
    if (!full[i]) rest += static_cast<double>(profile.regions[i].size);
  }
  for (std::size_t i = 0; i < densities.size(); ++i) {
    if (!full[i]) densities[i] = rest > 0 ? std::clamp(wanted / rest, 0.0, 1.0) : 0;
  }
  return densities;
}

double union_density(const Profile& profile, PopularityFamily family, double density,
                     double ranks) {
  if (ranks <= 0) return 0;
  const std::vector<double> densities = region_densities(profile, density);
  std::map<double, double> components;  // by density: equal regions are computed once
  for (std::size_t i = 0; i < densities.size(); ++i) {
    components[densities[i]] += static_cast<double>(profile.regions[i].size);
  }
  double sum = 0;
  for (const auto& [of_region, size] : components) {
    const double never = never_selected(profile.popularity, of_region);
    const double of_others = never < 1 ? std::min(of_region / (1 - never), 1.0) : 0;
    const double selected = family == PopularityFamily::copula
                                ? copula_union(profile.popularity.rho, of_others, ranks)
                                : beta_union(profile.popularity.beta_a, of_others, ranks);
    sum += size * (1 - never) * selected;
  }
  return sum / static_cast<double>(profile.components);
}

}  // namespace thinwire::traces
