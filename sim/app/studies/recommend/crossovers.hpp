// Where another scheme begins to win: with more ranks, another density, another network.
#pragma once

#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// Moves each parameter both ways, until another contender wins. `result` has at least two. Throws
/// InterruptedError after Ctrl-C; the crossovers that were found before are in the result.
void find_crossovers(const RecommendSettings& settings, Recommendation& result);

}  // namespace thinwire::studies
