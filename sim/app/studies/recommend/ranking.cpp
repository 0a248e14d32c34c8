#include "sim/app/studies/recommend/ranking.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "sim/app/studies/recommend/memory.hpp"

namespace thinwire::studies {

namespace {

/// The number of schemes that crossovers consider: the best few, plus the best dense one.
constexpr std::size_t kContenders = 3;

}  // namespace

bool fits(const RecommendSettings& settings, const Candidate& candidate) {
  const std::optional<double> memory = memory_of_device(candidate.row.point);
  const double state =
      settings.state_bytes * static_cast<double>(candidate.row.point.space.components);
  return !memory || state + candidate.memory_bytes <= *memory;
}

double slowest_contender(const std::vector<const Candidate*>& simulated, bool lossless) {
  std::vector<double> times;
  double dense = std::numeric_limits<double>::infinity();
  for (const Candidate* const candidate : simulated) {
    if (!candidate->is_advisable()) continue;
    times.push_back(time_of(candidate->row));
    if (is_lossless(*candidate)) dense = std::min(dense, times.back());
  }
  if (times.size() < kContenders) return std::numeric_limits<double>::infinity();
  std::ranges::nth_element(times, times.begin() + (kContenders - 1));
  const double last = times[kContenders - 1];
  return lossless ? std::max(last, dense) : last;
}

void rank_candidates(const RecommendSettings& settings, Recommendation& result) {
  for (Candidate& candidate : result.ranked) {
    if (candidate.row.outcome) candidate.fits = fits(settings, candidate);
  }
  std::ranges::stable_sort(result.ranked, {}, [](const Candidate& candidate) {
    return std::pair(time_of(candidate.row) == std::numeric_limits<double>::infinity() ? 2
                     : candidate.fits                                                  ? 0
                                                                                       : 1,
                     time_of(candidate.row));
  });
}

std::vector<std::string> contenders(const Recommendation& result) {
  std::vector<std::string> names;
  bool dense = false;
  const Candidate* const advice = result.advice();
  if (advice != nullptr) {
    names.push_back(advice->row.point.scheme->name);
    dense = is_lossless(*advice);
  }
  for (const Candidate& candidate : result.ranked) {
    if (&candidate == advice) continue;
    if (!candidate.row.outcome || (advice != nullptr && !candidate.is_advisable())) continue;
    if (names.size() >= kContenders && (dense || !is_lossless(candidate))) continue;
    names.push_back(candidate.row.point.scheme->name);
    dense = dense || is_lossless(candidate);
  }
  return names;
}

}  // namespace thinwire::studies
