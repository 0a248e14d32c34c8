// The order of the candidates, and which of them contend.
#pragma once

#include <string>
#include <vector>

#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// Sorts the candidates, after it is known which fit.
void rank_candidates(const RecommendSettings& settings, Recommendation& result);
/// The candidates for crossovers: the advice first, then the best few, and the best dense one.
[[nodiscard]] std::vector<std::string> contenders(const Recommendation& result);

}  // namespace thinwire::studies
