// The order of the candidates, and which of them contend.
#pragma once

#include <string>
#include <vector>

#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// Whether it fits into the memory of the device, if that is known, beside the training.
[[nodiscard]] bool fits(const RecommendSettings& settings, const Candidate& candidate);
/// The time beyond which another scheme is no contender, given candidates that were simulated:
/// neither among the fastest nor, if it gives the dense sum, the fastest of those that do.
[[nodiscard]] double slowest_contender(const std::vector<const Candidate*>& simulated,
                                       bool lossless);
/// Sorts the candidates, after it is known which fit.
void rank_candidates(const RecommendSettings& settings, Recommendation& result);
/// The candidates for crossovers: the advice first, then the best few, and the best dense one.
[[nodiscard]] std::vector<std::string> contenders(const Recommendation& result);

}  // namespace thinwire::studies
