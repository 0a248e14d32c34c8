// How far simulated times of real machines are off, and which candidates that leaves equal.
#pragma once

#include <string>
#include <vector>

#include "sim/app/studies/recommend/candidate.hpp"
#include "sim/app/studies/recommend/recommendation.hpp"

namespace thinwire::studies {

/// The median error of predicted times, as a share, on machines of a kind.
struct UsualError {
  double share = 0;
  std::string of;  ///< the kind of machine
};

/// The usual error for the kind of machine that a row was simulated on: the median of the machines of
/// results/measured/validation.jsonl, by predicted allreduces (docs/explanation/accuracy.md).
[[nodiscard]] UsualError usual_error(const results::Row& row);
/// Whether the times of two candidates that were simulated differ by less than the usual error of
/// their communication. Both compute alike.
[[nodiscard]] bool too_close(const Candidate& one, const Candidate& other);
/// The names of the advisable candidates that are too close to the one that is advised.
[[nodiscard]] std::vector<std::string> too_close_to(const Candidate& advice,
                                                    const Recommendation& result);

}  // namespace thinwire::studies
