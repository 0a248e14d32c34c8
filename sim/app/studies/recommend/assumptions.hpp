// What a ranking rests on, in words.
#pragma once

#include <vector>

#include "sim/app/studies/recommend/candidate.hpp"
#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// The assumptions; `any` is a candidate that was simulated at the given density.
[[nodiscard]] std::vector<Remark> assumptions_of(const RecommendSettings& settings,
                                                 const Candidate& any);

}  // namespace thinwire::studies
