// Small profiles for tests, and a serial generator of traces from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::test {

/// A profile of three layers and four regions, whose entries are all assumed.
inline traces::Profile small_profile(std::int64_t components = 40'000) {
  traces::Profile profile;
  profile.name = "small";
  profile.source = "made by a test";
  profile.components = components;
  profile.density = 0.02;
  profile.layers = {{"first", 0, components / 4},
                    {"second", components / 4, components / 2},
                    {"third", components / 4 * 3, components / 4}};
  profile.regions = {{0, components / 4, 1.6},
                     {1, components / 4, 1.2},
                     {1, components / 4, 0.4},
                     {2, components / 4, 0.8}};
  profile.popularity = {
      .rho = 0.25, .beta_a = 0.8, .never = 0, .block = 256, .clustering = 0.5, .bursts = 0};
  profile.magnitudes = {.shape = 0.9, .scale = 0.2, .below = 4, .rms = 0.4, .mean = 0.3};
  profile.thresholds = {
      .ranks = 0.03, .noise = 0.01, .walk = 0.04, .memory = 20, .start = 1, .filling = 100};
  for (const char* entry :
       {"layers", "regions", "popularity.rho", "popularity.beta_a", "popularity.never",
        "popularity.block", "popularity.clustering", "popularity.bursts", "magnitudes.shape",
        "magnitudes.scale", "magnitudes.below", "magnitudes.rms", "magnitudes.mean",
        "thresholds.ranks", "thresholds.noise", "thresholds.walk", "thresholds.memory",
        "thresholds.start", "thresholds.filling"}) {
    profile.provenance[entry] = {"assumed", "a test's"};
  }
  return profile;
}

/// The popularity of every coordinate.
inline std::vector<double> draw_popularities(const traces::Profile& profile,
                                             std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double chi = profile.popularity.clustering;
  std::vector<double> z;
  double of_block = 0;
  for (std::int64_t i = 0; i < profile.components; ++i) {
    if (i % profile.popularity.block == 0) of_block = normal(random);
    z.push_back(std::sqrt(chi) * of_block + std::sqrt(1 - chi) * normal(random));
  }
  return z;
}

/// The probability that a coordinate is selected at the profile's density, for all coordinates.
inline std::vector<double> draw_probabilities(const traces::Profile& profile,
                                              traces::PopularityFamily family,
                                              std::mt19937_64& random) {
  const std::vector<double> z = draw_popularities(profile, random);
  std::vector<double> probabilities;
  for (const traces::ProfileRegion& region : profile.regions) {
    for (std::int64_t i = 0; i < region.size; ++i) {
      probabilities.push_back(traces::selection_probability(
          profile.popularity, family, region.density * profile.density, z[probabilities.size()]));
    }
  }
  return probabilities;
}

/// Writes a trace of iterations 1, 2 .., drawn entry by entry from the profile.
inline void write_trace_of(const traces::Profile& profile, traces::PopularityFamily family,
                           int ranks, int iterations, std::uint64_t seed, const std::string& path) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  std::uniform_real_distribution<double> uniform;
  const std::vector<double> p = draw_probabilities(profile, family, random);
  const traces::ThresholdDrift& t = profile.thresholds;
  std::vector<double> of_rank;
  std::vector<double> walk;
  for (int rank = 0; rank < ranks; ++rank) {
    of_rank.push_back(t.ranks * normal(random));
    walk.push_back(t.walk * normal(random));
  }
  const double kept = std::exp(-1 / t.memory);
  traces::TraceWriter writer(path, {.components = profile.components,
                                    .ranks = ranks,
                                    .density = profile.density,
                                    .seed = seed,
                                    .source = profile.source,
                                    .residual_rule = traces::ResidualRule::all,
                                    .layers = profile.layers});
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    traces::TraceWindow window;
    window.iteration = iteration;
    const double start = 1 - (1 - t.start) * std::exp(-iteration / t.filling);
    for (int rank = 0; rank < ranks; ++rank) {
      double& walked = walk[static_cast<std::size_t>(rank)];
      walked = kept * walked + t.walk * std::sqrt(1 - kept * kept) * normal(random);
      const double threshold = start * std::exp(of_rank[static_cast<std::size_t>(rank)] + walked +
                                                t.noise * normal(random));
      std::vector<Entry> entries;
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (uniform(random) >= p[i]) continue;
        const double over =
            profile.magnitudes.scale * std::pow(exponential(random), 1 / profile.magnitudes.shape);
        const double sign = uniform(random) < 0.5 ? -1 : 1;
        entries.push_back({static_cast<std::uint32_t>(i),
                           static_cast<float>(sign * threshold * std::exp(over + 1e-6))});
      }
      window.selected.push_back(SparseVector::checked(std::move(entries)));
      window.thresholds.push_back(static_cast<float>(threshold));
    }
    writer.append(window);
  }
  writer.finish();
}

}  // namespace thinwire::test
