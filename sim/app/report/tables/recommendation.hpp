// The records of a recommendation: its candidates, and where the ranking changes.
#pragma once

#include <string>
#include <vector>

#include "sim/app/plan/config.hpp"
#include "sim/app/studies/recommend.hpp"
#include "sim/app/studies/recommend/forecast.hpp"

namespace thinwire::report {

/// A record per candidate that was simulated, the fastest first.
[[nodiscard]] std::vector<Json> candidate_records(const studies::Recommendation& recommendation);
/// A record per assumption of the ranking, and per candidate that was left out.
[[nodiscard]] std::vector<Json> assumption_records(const studies::Recommendation& recommendation);
/// A record per candidate, with the time that its formula gives.
[[nodiscard]] std::vector<Json> forecast_records(const studies::Forecast& forecast);
/// One sentence for whoever decides; empty if nothing is advised.
[[nodiscard]] std::string answer_text(const studies::Recommendation& result);
/// A record per candidate whose simulation ended early: its iteration takes longer than over_s.
[[nodiscard]] std::vector<Json> slower_records(const studies::Recommendation& recommendation);
/// A record per direction in which crossovers are searched, also where none was found.
[[nodiscard]] std::vector<Json> crossover_records(const studies::Recommendation& recommendation);

}  // namespace thinwire::report
