#include "sim/app/studies/recommend.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/app/studies/recommend/assumptions.hpp"
#include "sim/app/studies/recommend/crossovers.hpp"
#include "sim/app/studies/recommend/densities.hpp"
#include "sim/app/studies/recommend/memory.hpp"
#include "sim/app/studies/recommend/ranking.hpp"
#include "sim/app/studies/recommend/simulations.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

Json with_network(Json point) {
  if (point.contains("platform") && !point.contains("network")) point["network"] = "links";
  return point;
}

namespace {

/// Refuses what no candidate reads.
void check_usage(const RecommendSettings& settings) {
  std::vector<std::string> schemes = settings.schemes;
  if (schemes.empty()) {
    schemes = default_candidates(/*nodes=*/false);
    std::ranges::copy(default_candidates(/*nodes=*/true), std::back_inserter(schemes));
    schemes.emplace_back("dense_in_network");
  }
  plan::Usage usage;
  for (const std::string& scheme : schemes) {
    Json point = settings.point;
    point["scheme"] = scheme;
    try {
      usage.add(plan::resolve({point, plan::Origin::config, "recommend"}));
    } catch (const InputError&) {  // it is said where the candidate is simulated
    }
  }
  usage.check("recommend");
}

}  // namespace

Recommendation recommend(const RecommendSettings& given) {
  RecommendSettings settings = given;
  settings.point = with_network(settings.point);
  Json first = settings.point;
  if (!settings.schemes.empty()) first["scheme"] = settings.schemes.front();
  keep_options(first, algorithms::find_scheme(first.value("scheme", "oktopk")));
  check_memory(settings, plan::point_from(first, "recommend"));
  check_usage(settings);
  if (settings.point.contains("record")) {
    throw InputError("recommend: /record: nothing shows what is recorded; leave it out");
  }

  Recommendation result;
  RecommendSettings ranking = settings;
  // What the user names is simulated, however long it takes.
  if (!settings.schemes.empty()) ranking.most_seconds = std::numeric_limits<double>::infinity();
  std::vector<Attempt> attempts =
      attempts_of(settings.schemes.empty() ? default_candidates(/*nodes=*/false) : settings.schemes,
                  settings.point);
  simulate_all(ranking, attempts);
  take_candidates(std::move(attempts), result);
  const auto simulated = std::ranges::find_if(
      result.ranked, [](const Candidate& candidate) { return candidate.row.outcome.has_value(); });
  if (simulated == result.ranked.end()) return result;
  const bool nodes =
      simulated->row.outcome->machine.node > 1 && simulated->row.point.network->congests;
  const bool switches = simulated->row.outcome->machine.switches.any();
  if (settings.schemes.empty() && nodes) {
    attempts = attempts_of(default_candidates(/*nodes=*/true), settings.point);
    simulate_all(ranking, attempts);
    take_candidates(std::move(attempts), result);
  }
  if (settings.schemes.empty() && switches) {
    attempts = attempts_of({"dense_in_network"}, settings.point);
    simulate_all(ranking, attempts);
    take_candidates(std::move(attempts), result);
  }
  if (settings.density_of == DensityOf::sum) equalise_sums(ranking, result);
  rank_candidates(settings, result);
  // The point of a scheme at the density that was given.
  const auto plain = std::ranges::find_if(result.ranked, [](const Candidate& candidate) {
    return candidate.row.outcome && candidate.density_factor == 1;
  });
  result.assumptions =
      assumptions_of(settings, plain == result.ranked.end() ? result.ranked.front() : *plain);
  result.contenders = contenders(result);
  if (settings.crossovers && result.contenders.size() > 1) {
    result.crossovers = crossovers_of(settings, result);
  }
  return result;
}

}  // namespace thinwire::studies
