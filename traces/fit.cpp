#include "traces/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/space.hpp"
#include "traces/fitting/numeric.hpp"
#include "traces/fitting/steps.hpp"

namespace thinwire::traces {

namespace {

std::vector<ProfileRegion> regions_of(const TraceHeader& header, int parts) {
  std::vector<ProfileRegion> regions;
  int part = 1;
  for (std::size_t i = 0; i < header.layers.size(); ++i) {
    const Layer& layer = header.layers[i];
    std::int64_t begin = layer.first;
    const std::int64_t end = layer.first + layer.size;
    while (begin < end) {
      while (part < parts && part_begin(header.components, parts, part) <= begin) ++part;
      const std::int64_t next =
          part < parts ? std::min(end, part_begin(header.components, parts, part)) : end;
      regions.push_back({i, next - begin, 0});
      begin = next;
    }
  }
  return regions;
}

std::vector<int> union_ranks(int ranks) {
  std::vector<int> counts;
  for (int i = 1; i < ranks; i *= 2) counts.push_back(i);
  counts.push_back(ranks);
  return counts;
}

}  // namespace

double ProfileFit::union_error() const {
  double most = 0;
  for (const FittedUnion& one : unions) {
    most =
        std::max({most, std::abs(one.copula / one.trace - 1), std::abs(one.beta / one.trace - 1)});
  }
  return most;
}

ProfileFit fit_profile(const TraceReader& trace, const FitSettings& settings) {
  const TraceHeader& header = trace.header();
  if (header.ranks < 2) {
    throw InputError("a fit needs the selections of at least two ranks, but the trace has one");
  }
  ProfileFit fit;
  Profile& profile = fit.profile;
  profile.name = settings.name;
  profile.source = header.source;
  profile.components = header.components;
  profile.layers = header.layers;
  profile.regions = regions_of(header, settings.parts);
  provide(profile, {"layers"}, {"fitted", "the trace's"});

  Selections selections(header, profile.regions, profile.popularity.block);
  LogThresholds logs;
  std::vector<int> iterations;
  for (std::size_t at = 0; at < trace.iterations().size(); ++at) {
    const TraceWindow window = trace.window(at);
    selections.add(window);
    if (std::ranges::any_of(window.thresholds, [](float t) { return !(t > 0); })) continue;
    iterations.push_back(window.iteration);
    logs.emplace_back();
    for (const float threshold : window.thresholds) logs.back().push_back(std::log(threshold));
  }
  if (selections.entries() == 0 || iterations.empty()) {
    throw InputError("a fit needs selections and thresholds above 0; the trace has none");
  }

  profile.density = rounded(selections.density());
  for (std::size_t i = 0; i < profile.regions.size(); ++i) {
    profile.regions[i].density =
        rounded(std::min(selections.region_density(i) / selections.density(), 1 / profile.density));
  }
  provide(profile, {"regions"},
          {"fitted", fmt::format("counts of {} iterations and {} ranks", trace.iterations().size(),
                                 header.ranks)});
  for (const int ranks : union_ranks(header.ranks)) {
    fit.unions.push_back({.ranks = ranks, .trace = selections.union_density(ranks)});
  }
  fit_popularity(profile, fit.unions);
  fit_clustering(profile, selections);
  for (FittedUnion& one : fit.unions) {
    one.copula = union_density(profile, PopularityFamily::copula, profile.density, one.ranks);
    one.beta = union_density(profile, PopularityFamily::beta, profile.density, one.ranks);
  }
  fit.magnitude_distance = fit_tail(profile, selections.magnitudes());
  fit_bulk(profile, trace);
  fit_start(profile, iterations, logs);
  fit.increments = fit_drift(profile, iterations, logs);
  fit.imbalance_trace = selections.imbalance();
  fit_bursts(profile, fit.imbalance_trace);
  fit.imbalance_profile = expected_imbalance(profile);
  return fit;
}

}  // namespace thinwire::traces
