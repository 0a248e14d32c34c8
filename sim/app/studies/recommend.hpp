// Recommends a scheme for a training: simulates all candidates, ranks them, and finds where the
// ranking changes.
#pragma once

#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// Throws InputError if the point is invalid, or if the training alone exceeds the device's memory.
[[nodiscard]] Recommendation recommend(const RecommendSettings& given);

/// The point with the network that is meant if none is named: links, where there is a platform.
[[nodiscard]] Json with_network(Json point);

}  // namespace thinwire::studies
