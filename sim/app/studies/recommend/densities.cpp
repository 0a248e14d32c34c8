#include "sim/app/studies/recommend/densities.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/studies/recommend/simulations.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

double density_of_point(const plan::Point& point) {
  return static_cast<double>(point.k) / static_cast<double>(point.space.components);
}

Json at_density(Json point, double density) {
  point.erase("k");
  point["density"] = std::min(1.0, density);
  return point;
}

void equalise_sums(const RecommendSettings& settings, Recommendation& result) {
  // The least: sums that are carried as dense vectors count all components.
  double most = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : result.ranked) {
    const auto& info = *candidate.row.point.scheme;
    if (info.dense || info.selects_result || info.selects_together || info.one_selects) continue;
    if (candidate.row.outcome) most = std::min(most, candidate.sum_density);
  }
  if (most > 1) {
    throw InputError(
        "--density-of sum: no candidate sums what ranks select by themselves; add topka to "
        "--schemes");
  }
  constexpr double kSame = 1.02;
  std::vector<Attempt> attempts;
  std::vector<double> factors;
  std::vector<Candidate> kept;
  for (Candidate& candidate : result.ranked) {
    const auto& info = *candidate.row.point.scheme;
    const bool fewer = candidate.row.outcome && !info.dense && candidate.sum_density > 0 &&
                       candidate.sum_density * kSame < most;
    if (!fewer || !(info.selects_result || info.selects_together || info.one_selects)) {
      kept.push_back(std::move(candidate));
      continue;
    }
    const double factor = most / candidate.sum_density;
    factors.push_back(factor);
    attempts.push_back(
        {.scheme = candidate.row.point.scheme->name,
         .point = at_density(settings.point, factor * density_of_point(candidate.row.point))});
  }
  try {
    simulate_all(settings, attempts);
  } catch (const InterruptedError&) {
    result.interrupted = true;
  }
  result.ranked = std::move(kept);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].candidate) attempts[i].candidate->density_factor = factors[i];
  }
  take_candidates(std::move(attempts), result);
}

}  // namespace thinwire::studies
