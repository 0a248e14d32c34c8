#include "sim/app/studies/recommend/crossovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/run/estimate.hpp"
#include "sim/app/studies/recommend/densities.hpp"
#include "sim/app/studies/recommend/simulations.hpp"
#include "sim/core/base/errors.hpp"

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

/// The point at which the parameter of the axis has a value; for alpha and beta the value is a factor.
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

/// The attempts of the contenders at one value of an axis; the present one first.
std::vector<Attempt> attempts_at(const RecommendSettings& settings, const Recommendation& result,
                                 const std::string& along, double value) {
  const Candidate& present = candidate_of(result, result.contenders.front());
  const double density = density_of_point(present.row.point) / present.density_factor;
  std::vector<Attempt> attempts;
  for (const std::string& name : result.contenders) {
    const Json point =
        point_at(at_density(settings.point, density), present.row.point, along, value);
    const double factor = candidate_of(result, name).density_factor;
    attempts.push_back(
        {.scheme = name, .point = at_density(point, factor * point.at("density").get<double>())});
  }
  return attempts;
}

/// The simulations that a search may take, and about how long they do.
class Search {
 public:
  Search(const RecommendSettings& settings, const Recommendation& result,
         const std::vector<Ladder>& ladders)
      : settings_(settings), result_(result) {
    for (const Ladder& axis : ladders) {
      for (const double value : axis.values) {
        const double one_s = wall_s(attempts_at(settings, result, axis.along, value));
        wall_s_[{axis.along, value}] = one_s;
        later_ += result.contenders.size();
        later_s_ += one_s;
      }
    }
  }

  /// Simulates the contenders at a value. Those that take longer than 5% more than the present one do
  /// not win.
  std::vector<Attempt> simulate(const std::string& along, double value) {
    leave(along, value);
    std::vector<Attempt> attempts = attempts_at(settings_, result_, along, value);
    Batch batch{.done = done_, .later = later_, .later_s = later_s_};
    batch.give_up_after = [&](const Attempt& attempt) {
      const Attempt& present = attempts.front();
      if (&attempt == &present || !present.candidate) {
        return std::numeric_limits<double>::infinity();
      }
      return kWorthwhile * time_of(present.candidate->row);
    };
    simulate_all(settings_, attempts, batch);
    done_ += attempts.size();
    return attempts;
  }
  /// A value that need not be tried any more.
  void leave(const std::string& along, double value) {
    later_ -= result_.contenders.size();
    later_s_ -= wall_s_.at({along, value});
  }

 private:
  [[nodiscard]] double wall_s(const std::vector<Attempt>& attempts) const {
    double all = 0;
    for (const Attempt& attempt : attempts) {
      try {
        const double one = run::estimated_wall_s(point_of(attempt));
        if (one <= settings_.most_seconds) all += one;
      } catch (const InputError&) {  // it is said where the attempt is made
      }
    }
    return all / settings_.jobs;
  }

  const RecommendSettings& settings_;
  const Recommendation& result_;
  std::map<std::pair<std::string, double>, double> wall_s_;
  std::size_t done_ = 0;
  std::size_t later_ = 0;
  double later_s_ = 0;
};

/// Tries the values of an axis in order until another contender wins.
Crossover crossover(const Recommendation& result, const Ladder& axis,
                    const std::function<std::vector<Attempt>(double)>& simulated) {
  Crossover found{.along = axis.along, .up = axis.up};
  const std::string& present = result.contenders.front();
  for (const double value : axis.values) {
    const std::vector<Attempt> attempts = simulated(value);
    if (!attempts.front().trouble.empty()) {
      found.ended = fmt::format("{}: {}", present, attempts.front().trouble);
      return found;
    }
    found.looked_to = value;
    std::vector<const Candidate*> taking_part;
    for (const Attempt& attempt : attempts) {
      if (!attempt.trouble.empty()) {
        found.ended = fmt::format("{} took no part: {}", attempt.scheme, attempt.trouble);
      } else if (attempt.candidate) {
        taking_part.push_back(&*attempt.candidate);
      }
    }
    const Candidate& winner = *advised(taking_part);
    if (winner.row.point.scheme == present) continue;
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

void find_crossovers(const RecommendSettings& settings, Recommendation& result) {
  const Candidate& present = candidate_of(result, result.contenders.front());
  const int ranks = present.row.point.ranks;
  const double density = density_of_point(present.row.point) / present.density_factor;
  // The groups of a file are of its ranks alone.
  const workloads::Parallel& groups = present.row.point.parallel;
  const double least = groups.file ? ranks : 2 * groups.tensor;
  const double most = groups.file ? ranks : std::max(settings.most_ranks, 2 * ranks);
  const std::vector<Ladder> ladders{
      {"ranks", true, whole_steps(ranks, 2, 2, most)},
      {"ranks", false, whole_steps(ranks, 0.5, least, most)},
      {"density", true, steps(density, 2, density, kMostDensity)},
      {"density", false, steps(density, 0.5, std::max(kLeastDensity, density / 100), density)},
      {"alpha", true, steps(1, 2, 1, kMostFactor)},
      {"alpha", false, steps(1, 0.5, 1 / kMostFactor, 1)},
      {"beta", true, steps(1, 2, 1, kMostFactor)},
      {"beta", false, steps(1, 0.5, 1 / kMostFactor, 1)}};
  Search search(settings, result, ladders);
  for (const Ladder& axis : ladders) {
    std::size_t tried = 0;
    result.crossovers.push_back(crossover(result, axis, [&](double value) {
      ++tried;
      return search.simulate(axis.along, value);
    }));
    for (; tried < axis.values.size(); ++tried) search.leave(axis.along, axis.values[tried]);
  }
}

}  // namespace thinwire::studies
