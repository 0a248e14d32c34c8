#include "sim/app/studies/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

/// The number of schemes that crossovers consider: the best few, plus the best dense one.
constexpr std::size_t kContenders = 3;
constexpr double kMostDensity = 0.5;
constexpr double kLeastDensity = 1e-5;

/// Infinity for what cannot be simulated, and for a scheme that does not select k: its time is that
/// of another density.
double time_of(const experiment::Row& row) {
  return row.outcome && !selects_far_from_k(row) ? row.outcome->training->mean.total().value()
                                                 : std::numeric_limits<double>::infinity();
}

Dominant dominant_in(const experiment::Row& row) {
  const experiment::Outcome& outcome = *row.outcome;
  const workloads::IterationParts& mean = outcome.training->mean;
  const double communication = mean.communication.value();
  // The parts follow the formulas, for the rank that it cost most; the rest is waiting for others,
  // sums and copies.
  const double latency =
      std::min(communication,
               static_cast<double>(outcome.messages_received.max) * outcome.machine.alpha.value());
  const double bandwidth =
      std::min(communication - latency, static_cast<double>(outcome.words_received.max) *
                                            outcome.machine.beta_per_word.value());
  const std::array<std::pair<double, Dominant>, 5> parts{
      {{mean.computation.value(), Dominant::computation},
       {mean.sparsification.value(), Dominant::sparsification},
       {latency, Dominant::latency},
       {bandwidth, Dominant::bandwidth},
       {communication - latency - bandwidth, Dominant::waiting}}};
  return std::ranges::max_element(parts, {}, &std::pair<double, Dominant>::first)->second;
}

Candidate candidate_of(const RecommendSettings& settings, const std::string& scheme, Json point) {
  point["scheme"] = scheme;
  const experiment::Point checked = experiment::point_from(point, "recommend");
  if (settings.progress) {
    const std::string density = point.contains("density")
                                    ? fmt::format(", density {:.3g}", point.value("density", 0.0))
                                    : "";
    settings.progress(fmt::format("{}, P = {}{}", scheme, point.value("ranks", 16), density));
  }
  Candidate candidate{.row = experiment::simulate_point("recommend", checked), .dominant = {}};
  if (candidate.row.outcome) candidate.dominant = dominant_in(candidate.row);
  return candidate;
}

/// The simulated time; infinite if the point is infeasible: a platform has a fixed number of hosts.
double time_elsewhere(const RecommendSettings& settings, const std::string& scheme,
                      const Json& point) {
  try {
    return time_of(candidate_of(settings, scheme, point).row);
  } catch (const InputError&) {
    return std::numeric_limits<double>::infinity();
  }
}

std::vector<std::string> contenders(const std::vector<Candidate>& ranked) {
  std::vector<std::string> names;
  bool dense = false;
  for (const Candidate& candidate : ranked) {
    const experiment::Row& row = candidate.row;
    if (!row.outcome) continue;
    const algorithms::SchemeInfo scheme = algorithms::find_scheme(row.point.scheme);
    const bool is_dense = scheme.dense && !scheme.quantised;
    if (names.size() >= kContenders && (dense || !is_dense)) continue;
    names.push_back(row.point.scheme);
    dense = dense || is_dense;
  }
  return names;
}

/// Tries the values of one key in order until another contender wins.
Crossover crossover(const RecommendSettings& settings, const std::vector<std::string>& names,
                    const std::string& key, const std::vector<double>& values) {
  Crossover result;
  for (const double value : values) {
    Json point = settings.point;
    if (key == "ranks") {
      point[key] = std::llround(value);
    } else {
      point[key] = value;
    }
    std::string winner;
    double best = std::numeric_limits<double>::infinity();
    double present = best;
    for (const std::string& name : names) {
      const double time = time_elsewhere(settings, name, point);
      if (name == names.front()) present = time;
      if (time < best) {
        best = time;
        winner = name;
      }
    }
    if (present == std::numeric_limits<double>::infinity()) return result;
    result.looked_to = value;
    if (winner == names.front()) continue;
    result.at = value;
    result.winner = winner;
    result.gain = present / best;
    return result;
  }
  return result;
}

/// The sequence value * factor, value * factor², ... while it stays between both ends.
std::vector<double> steps(double value, double factor, double low, double high) {
  std::vector<double> all;
  for (double next = value * factor; next > 0 && next >= low && next <= high; next *= factor) {
    all.push_back(next);
  }
  return all;
}

/// The same sequence, rounded to distinct whole numbers.
std::vector<double> whole_steps(int value, double factor, double low, double high) {
  std::vector<double> all = steps(value, factor, low, high);
  for (double& next : all) next = std::round(next);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::string name_of(Dominant dominant) {
  switch (dominant) {
    case Dominant::computation:
      return "computation";
    case Dominant::sparsification:
      return "sparsification";
    case Dominant::latency:
      return "latency";
    case Dominant::bandwidth:
      return "bandwidth";
    case Dominant::waiting:
      break;
  }
  return "waiting";
}

std::vector<std::string> default_candidates(const Json& point) {
  std::vector<std::string> names{"dense_rabenseifner",
                                 "dense_ovlp",
                                 "topka",
                                 "topkdsa",
                                 "gtopk",
                                 "oktopk",
                                 "ssar_recursive_double",
                                 "ssar_split_allgather",
                                 "dsar_split_allgather",
                                 "exdyna",
                                 "cltk"};
  if (experiment::find_network(point.value("network", "alphabeta")).congests) {
    names.insert(names.end(), {"hierarchical_rabenseifner", "hierarchical_oktopk"});
  }
  return names;
}

Recommendation recommend(const RecommendSettings& settings) {
  Recommendation result;
  for (const std::string& scheme : settings.schemes) {
    result.ranked.push_back(candidate_of(settings, scheme, settings.point));
  }
  std::ranges::stable_sort(result.ranked, {},
                           [](const Candidate& candidate) { return time_of(candidate.row); });
  result.contenders = contenders(result.ranked);
  const std::vector<std::string>& names = result.contenders;
  if (!settings.crossovers || names.size() < 2) return result;
  const experiment::Point& point = result.ranked.front().row.point;
  const double density = static_cast<double>(point.k) / static_cast<double>(point.space.components);
  Json given = settings.point;
  given.erase("k");
  RecommendSettings elsewhere = settings;
  elsewhere.point = given;
  if (!given.contains("density")) elsewhere.point["density"] = density;
  const double most = std::max(settings.most_ranks, 2 * point.ranks);
  result.more_ranks = crossover(elsewhere, names, "ranks", whole_steps(point.ranks, 2, 2, most));
  result.fewer_ranks = crossover(elsewhere, names, "ranks", whole_steps(point.ranks, 0.5, 2, most));
  result.higher_density =
      crossover(elsewhere, names, "density", steps(density, 2, kLeastDensity, kMostDensity));
  result.lower_density =
      crossover(elsewhere, names, "density", steps(density, 0.5, density / 100, kMostDensity));
  return result;
}

}  // namespace thinwire::studies
