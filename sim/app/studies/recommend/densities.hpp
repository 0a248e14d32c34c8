// The densities at which candidates are simulated.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/app/plan/point.hpp"
#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::studies {

/// The density of the user, of the model or of the profile.
[[nodiscard]] double density_of_point(const plan::Point& point);
[[nodiscard]] Json at_density(Json point, double density);
/// Simulates the schemes whose sums have fewer components than top-k SGD's sums again, at the density
/// at which they have as many.
void equalise_sums(const RecommendSettings& settings, Recommendation& result);

}  // namespace thinwire::studies
