#include "sim/app/results/outcome.hpp"

#include <algorithm>
#include <cmath>

namespace thinwire::results {

double SelectionSummary::deviation(std::int64_t k, bool together) const {
  if (k == 0) return 0;
  const double wanted = static_cast<double>(k) * (together ? 1 : ranks);
  return static_cast<double>(total) / wanted - 1;
}

std::vector<KindTime> Outcome::kinds_of_all() const {
  if (!training) return kinds;
  std::vector<KindTime> all;
  for (const IterationKind& kind : training->kinds) {
    all.push_back({kind.which, kind.parts.total()});
  }
  return all;
}

std::optional<Seconds> Outcome::steady_time() const {
  const std::vector<KindTime> all = kinds_of_all();
  const auto steady = std::ranges::find_if(
      all, [](const KindTime& kind) { return kind.which.weight > 0 && !kind.which.periodic; });
  const bool periodic =
      std::ranges::any_of(all, [](const KindTime& kind) { return kind.which.periodic; });
  if (!periodic || steady == all.end()) return std::nullopt;
  return steady->time;
}

std::optional<Seconds> Outcome::periodic_time() const {
  std::optional<Seconds> longest;
  for (const KindTime& kind : kinds_of_all()) {
    if (kind.which.weight == 0 || !kind.which.periodic) continue;
    longest = std::max(longest.value_or(kind.time), kind.time);
  }
  return longest;
}

Seconds Outcome::mean_time() const {
  Seconds sum;
  const std::vector<KindTime> all = kinds_of_all();
  for (const KindTime& kind : all) sum += kind.time * kind.which.weight;
  if (!all.empty()) return sum;
  for (const Seconds time : iteration_times) sum += time;
  return sum * (1 / static_cast<double>(iteration_times.size()));
}

PhaseCost Outcome::phase(std::string_view name) const {
  const auto found = std::ranges::find(phases, name, &PhaseCost::name);
  return found == phases.end() ? PhaseCost{} : *found;
}

std::optional<double> Outcome::congestion_factor() const {
  if (!alphabeta_time) return std::nullopt;
  if (time() == *alphabeta_time) return 1;
  return time().value() / alphabeta_time->value();
}

}  // namespace thinwire::results
