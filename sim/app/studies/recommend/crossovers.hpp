// Where another scheme begins to win: with more ranks, another density, another network.
#pragma once

#include <vector>

#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// Moves each parameter both ways, until another contender wins. `result` has at least two.
[[nodiscard]] std::vector<Crossover> crossovers_of(const RecommendSettings& settings,
                                                   const Recommendation& result);

}  // namespace thinwire::studies
