#include "sim/app/studies/recommend.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/studies/recommend/assumptions.hpp"
#include "sim/app/studies/recommend/crossovers.hpp"
#include "sim/app/studies/recommend/densities.hpp"
#include "sim/app/studies/recommend/forecast.hpp"
#include "sim/app/studies/recommend/memory.hpp"
#include "sim/app/studies/recommend/ranking.hpp"
#include "sim/app/studies/recommend/simulations.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

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

/// The default candidates on a machine.
std::vector<std::string> candidates_on(const plan::Machine& machine,
                                       const plan::NetworkInfo& network) {
  std::vector<std::string> names = default_candidates(/*nodes=*/false);
  if (machine.node > 1 && network.congests) {
    std::ranges::copy(default_candidates(/*nodes=*/true), std::back_inserter(names));
  }
  const bool only_forward = network.id == plan::NetworkId::smpi;  // SimGrid's switches
  if (machine.switches.any() && !only_forward) names.emplace_back("dense_in_network");
  return names;
}

/// Whether simulations end as soon as it is known that they cannot win.
bool ends_early(const RecommendSettings& settings) {
  return settings.schemes.empty() && !settings.all;
}

/// Gives the attempts what the formulas tell, and tells it.
void forecast(const RecommendSettings& settings, const plan::Machine& machine,
              std::vector<Attempt>& attempts) {
  Forecast told{.candidates = {}, .machine = machine, .jobs = settings.jobs};
  for (Attempt& attempt : attempts) {
    try {
      const plan::Point point = point_of(attempt);
      if (plan::restriction_of(point)) continue;
      attempt.forecast_s = formula_time(point, machine);
      const double wall = run::estimated_wall_s(point);
      const bool with_few_chunks = ends_early(settings) && point.scheme->stand_ins.pipeline;
      if (wall <= settings.most_seconds || with_few_chunks) {
        told.candidates.push_back(
            {attempt.scheme, attempt.forecast_s, std::min(wall, settings.most_seconds)});
      }
    } catch (const InputError&) {  // it is said where the candidate is simulated
    }
  }
  std::ranges::stable_sort(told.candidates, {}, &ForecastCandidate::time_s);
  if (settings.forecast) settings.forecast(told);
}

/// Whether equalise_sums() may simulate a scheme again.
bool sums_less(const algorithms::SchemeInfo& scheme) {
  return !scheme.dense && (scheme.selects_result || scheme.selects_together || scheme.one_selects);
}

/// Counts an attempt among the later ones if the batch leaves it open.
void put_off(const RecommendSettings& settings, const Attempt& attempt, Batch& batch) {
  try {
    const plan::Point point = point_of(attempt);
    const double wall = run::estimated_wall_s(point);
    if (wall <= batch.longest_s || !point.scheme->stand_ins.pipeline) return;
    ++batch.later;
    batch.later_s += std::min(wall, settings.most_seconds) / settings.jobs;
  } catch (const InputError&) {  // it is said where the candidate is simulated
  }
}

/// Simulates the candidates, and adds them to the result.
void simulate_candidates(const RecommendSettings& settings, std::vector<Attempt>& attempts,
                         Recommendation& result) {
  Batch batch;
  const auto give_up_after = [&](const Attempt& attempt) {
    const algorithms::SchemeInfo& scheme = algorithms::find_scheme(attempt.scheme);
    // What sums of sparse schemes hold decides about the densities at which they are compared.
    const bool by_sum = settings.density_of == DensityOf::sum;
    if (by_sum && !scheme.dense) return std::numeric_limits<double>::infinity();
    std::vector<const Candidate*> simulated;
    for (Attempt& one : attempts) {
      if (!one.candidate || !one.candidate->row.outcome) continue;
      if (by_sum && sums_less(*one.candidate->row.point.scheme)) continue;
      one.candidate->fits = fits(settings, *one.candidate);
      simulated.push_back(&*one.candidate);
    }
    return slowest_contender(simulated, algorithms::convergence_of(scheme.name).convergence ==
                                            algorithms::Convergence::exact);
  };
  try {
    if (ends_early(settings)) {
      batch.give_up_after = give_up_after;
      batch.longest_s = settings.longest_first_s;
      for (const Attempt& attempt : attempts) put_off(settings, attempt, batch);
      simulate_all(settings, attempts, batch);
      batch.done = attempts.size() - batch.later;
      batch.longest_s = std::numeric_limits<double>::infinity();
      rule_out(settings, attempts, batch);
      batch.later = 0;
      batch.later_s = 0;
    }
    simulate_all(settings, attempts, batch);
  } catch (const InterruptedError&) {
    result.interrupted = true;
    for (Attempt& attempt : attempts) {
      if (attempt.is_open()) attempt.trouble = kNotBeforeInterrupt;
    }
  }
  take_candidates(std::move(attempts), result);
}

/// What is done with the candidates that were simulated.
void conclude(const RecommendSettings& settings, Recommendation& result) {
  rank_candidates(settings, result);
  // The point of a scheme at the density that was given.
  const auto plain = std::ranges::find_if(result.ranked, [](const Candidate& candidate) {
    return candidate.row.outcome && candidate.density_factor == 1;
  });
  result.assumptions =
      assumptions_of(settings, plain == result.ranked.end() ? result.ranked.front() : *plain);
  result.contenders = contenders(result);
  if (!settings.crossovers || result.contenders.size() < 2 || result.interrupted) return;
  try {
    find_crossovers(settings, result);
  } catch (const InterruptedError&) {
    result.interrupted = true;
  }
}

}  // namespace

Recommendation recommend(const RecommendSettings& given) {
  RecommendSettings settings = given;
  settings.point = with_network(settings.point);
  Json first = settings.point;
  if (!settings.schemes.empty()) first["scheme"] = settings.schemes.front();
  keep_options(first, algorithms::find_scheme(first.value("scheme", "oktopk")));
  const plan::Point any = plan::point_from(first, "recommend");
  check_memory(settings, any);
  check_usage(settings);
  if (settings.point.contains("record")) {
    throw InputError("recommend: /record: nothing shows what is recorded; leave it out");
  }

  const InterruptGuard guard;  // between simulations, too
  const plan::Machine machine = any.platform.empty() ? any.machine : run::machine_of(any);
  RecommendSettings ranking = settings;
  // What the user names is simulated, however long it takes.
  if (!settings.schemes.empty()) ranking.most_seconds = std::numeric_limits<double>::infinity();
  std::vector<Attempt> attempts = attempts_of(
      settings.schemes.empty() ? candidates_on(machine, *any.network) : settings.schemes,
      settings.point);
  forecast(ranking, machine, attempts);
  Recommendation result;
  simulate_candidates(ranking, attempts, result);
  if (std::ranges::none_of(result.ranked, [](const Candidate& candidate) {
        return candidate.row.outcome.has_value();
      })) {
    return result;
  }
  if (settings.density_of == DensityOf::sum && !result.interrupted) equalise_sums(ranking, result);
  conclude(settings, result);
  return result;
}

}  // namespace thinwire::studies
