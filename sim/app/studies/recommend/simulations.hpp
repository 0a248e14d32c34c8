// The simulations of candidates, several at once, each in a child process.
#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/studies/recommend/candidate.hpp"
#include "sim/app/studies/recommend/recommendation.hpp"
#include "sim/app/studies/recommend/settings.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::studies {

/// A simulation that is to run.
struct Attempt {
  std::string scheme;
  Json point;
  std::optional<Candidate> candidate = {};
  std::exception_ptr refused = {};  ///< an InputError
  std::string trouble = {};         ///< why there is no candidate
};

[[nodiscard]] std::vector<Attempt> attempts_of(const std::vector<std::string>& schemes,
                                               const Json& point);
/// What is left of the options of a point for a scheme that lacks some of them.
void keep_options(Json& point, const algorithms::SchemeInfo& scheme);
/// Simulates all attempts, several at once.
void simulate_all(const RecommendSettings& settings, std::vector<Attempt>& attempts);
/// Adds the attempts that have a candidate to it, and the others to what is left out. What was refused
/// is the user's error.
void take_candidates(std::vector<Attempt> attempts, Recommendation& into);

}  // namespace thinwire::studies
