// The simulations of candidates, several at once, each in a child process.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
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

/// The trouble of what an interrupt came before.
inline constexpr const char* kNotBeforeInterrupt = "it was not simulated before the interrupt";

/// A simulation that is to run.
struct Attempt {
  std::string scheme;
  Json point;
  std::optional<Candidate> candidate = {};
  std::exception_ptr refused = {};  ///< an InputError
  std::string trouble = {};         ///< why there is no candidate
  double forecast_s = 0;            ///< by its formula; the order in which attempts run
  /// If it is known to take longer than this, there is no candidate, and no trouble.
  std::optional<double> over_s = {};

  /// Nothing is known yet.
  [[nodiscard]] bool is_open() const { return !candidate && trouble.empty() && !over_s; }
};

/// What is asked of a batch of simulations, and what there is beside it.
struct Batch {
  /// The time beyond which an attempt need not be simulated, at its start: see
  /// run::PointSettings::give_up_after. Without it, all are simulated to their ends.
  std::function<double(const Attempt& attempt)> give_up_after = {};
  /// Attempts that are expected to take longer, and of which few chunks tell something, stay open.
  double longest_s = std::numeric_limits<double>::infinity();
  std::size_t done = 0;   ///< simulations before the batch
  std::size_t later = 0;  ///< simulations after it, at most
  double later_s = 0;     ///< their wall-clock time
};

[[nodiscard]] std::vector<Attempt> attempts_of(const std::vector<std::string>& schemes,
                                               const Json& point);
/// What is left of the options of a point for a scheme that lacks some of them.
void keep_options(Json& point, const algorithms::SchemeInfo& scheme);
/// The point of an attempt. Throws InputError if it is none.
[[nodiscard]] plan::Point point_of(const Attempt& attempt);
/// Finds out with few chunks (docs/explanation/approximate.md) which open attempts need not be
/// simulated. Throws as simulate_all does.
void rule_out(const RecommendSettings& settings, std::vector<Attempt>& attempts,
              const Batch& batch);
/// Simulates all open attempts, several at once. Throws InterruptedError after Ctrl-C; what has ended
/// before is in the attempts.
void simulate_all(const RecommendSettings& settings, std::vector<Attempt>& attempts,
                  const Batch& batch = {});
/// Adds the attempts that have a candidate to it, those that are too slow to what is slower, and the
/// others to what is left out. What was refused is the user's error.
void take_candidates(std::vector<Attempt> attempts, Recommendation& into);

}  // namespace thinwire::studies
