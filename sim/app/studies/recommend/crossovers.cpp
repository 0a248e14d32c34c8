#include "sim/app/studies/recommend/crossovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/app/studies/recommend/densities.hpp"
#include "sim/app/studies/recommend/simulations.hpp"

namespace thinwire::studies {

namespace {

constexpr double kMostDensity = 0.5;
constexpr double kLeastDensity = 1e-5;
/// Up to this factor α and β are moved.
constexpr double kMostFactor = 16;

/// The values of one parameter to try in order.
struct Ladder {
  std::string along;
  bool up = true;
  std::vector<double> values;
};

/// The point at which the parameter of the axis has a value; that of alpha and beta is a factor.
Json point_at(const Json& given, const plan::Point& base, const std::string& along, double value) {
  Json point = given;
  if (along == "ranks") {
    point["ranks"] = std::llround(value);
    workloads::Parallel groups = base.parallel;
    if (groups.data == 0) return point;
    groups.data = static_cast<int>(std::llround(value)) / groups.tensor;
    point["parallel"] = text_of(groups);
  } else if (along == "density") {
    point = at_density(std::move(point), value);
  } else if (!base.platform.empty()) {
    if (along == "alpha") point["latency_factor"] = base.latency_factor * value;
    if (along == "beta") point["bandwidth_factor"] = base.bandwidth_factor / value;
  } else if (along == "alpha") {
    point["machine"]["alpha_s"] = base.machine.alpha.value() * value;
  } else {
    point["machine"]["beta_s_per_word"] = base.machine.beta_per_word.value() * value;
  }
  return point;
}

const Candidate& candidate_of(const Recommendation& result, const std::string& scheme) {
  return *std::ranges::find_if(result.ranked, [&](const Candidate& candidate) {
    return candidate.row.point.scheme == scheme;
  });
}

/// Tries the values of an axis in order until another contender wins.
Crossover crossover(const RecommendSettings& settings, const Recommendation& result,
                    const Ladder& axis) {
  Crossover found{.along = axis.along, .up = axis.up};
  const std::vector<std::string>& names = result.contenders;
  const Candidate& present = candidate_of(result, names.front());
  const double density = density_of_point(present.row.point) / present.density_factor;
  for (const double value : axis.values) {
    std::vector<Attempt> attempts;
    for (const std::string& name : names) {
      Json point =
          point_at(at_density(settings.point, density), present.row.point, axis.along, value);
      const double factor = candidate_of(result, name).density_factor;
      attempts.push_back(
          {.scheme = name, .point = at_density(point, factor * point.at("density").get<double>())});
    }
    simulate_all(settings, attempts);
    if (!attempts.front().trouble.empty()) {
      found.ended = fmt::format("{}: {}", names.front(), attempts.front().trouble);
      return found;
    }
    found.looked_to = value;
    std::vector<const Candidate*> taking_part;
    for (const Attempt& attempt : attempts) {
      if (attempt.trouble.empty()) {
        taking_part.push_back(&*attempt.candidate);
      } else {
        found.ended = fmt::format("{} took no part: {}", attempt.scheme, attempt.trouble);
      }
    }
    const Candidate& winner = *advised(taking_part);
    if (winner.row.point.scheme == names.front()) continue;
    found.at = value;
    found.winner = winner.row.point.scheme->name;
    found.gain = time_of(attempts.front().candidate->row) / time_of(winner.row);
    return found;
  }
  if (axis.values.empty()) found.ended = "there is no such value to try";
  return found;
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

std::vector<Crossover> crossovers_of(const RecommendSettings& settings,
                                     const Recommendation& result) {
  const Candidate& present = candidate_of(result, result.contenders.front());
  const int ranks = present.row.point.ranks;
  const double density = density_of_point(present.row.point) / present.density_factor;
  // The groups of a file are of its ranks alone.
  const workloads::Parallel& groups = present.row.point.parallel;
  const double least = groups.file ? ranks : 2 * groups.tensor;
  const double most = groups.file ? ranks : std::max(settings.most_ranks, 2 * ranks);
  std::vector<Crossover> all;
  for (const Ladder& axis :
       {Ladder{"ranks", true, whole_steps(ranks, 2, 2, most)},
        Ladder{"ranks", false, whole_steps(ranks, 0.5, least, most)},
        Ladder{"density", true, steps(density, 2, density, kMostDensity)},
        Ladder{"density", false,
               steps(density, 0.5, std::max(kLeastDensity, density / 100), density)},
        Ladder{"alpha", true, steps(1, 2, 1, kMostFactor)},
        Ladder{"alpha", false, steps(1, 0.5, 1 / kMostFactor, 1)},
        Ladder{"beta", true, steps(1, 2, 1, kMostFactor)},
        Ladder{"beta", false, steps(1, 0.5, 1 / kMostFactor, 1)}}) {
    all.push_back(crossover(settings, result, axis));
  }
  return all;
}

}  // namespace thinwire::studies
