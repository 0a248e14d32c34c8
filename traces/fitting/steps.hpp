// The steps of a fit (traces/fit.hpp), one file each. Every step sets a part of the profile and
// says where it is from.
#pragma once

#include <string>
#include <vector>

#include "traces/fit.hpp"
#include "traces/fitting/selections.hpp"

namespace thinwire::traces {

/// ln threshold of each recorded iteration and rank.
using LogThresholds = std::vector<std::vector<double>>;

/// Says where `entries` of the profile are from.
inline void provide(Profile& profile, const std::vector<std::string>& entries,
                    const Provenance& from) {
  for (const std::string& entry : entries) profile.provenance[entry] = from;
}

// popularity.cpp
/// ρ, a and the share that is never selected, by least squares on the unions.
void fit_popularity(Profile& profile, const std::vector<FittedUnion>& unions);
/// χ, by the pairs of ranks that select in one block.
void fit_clustering(Profile& profile, const Selections& selections);
/// Bursts, as large as the imbalance of a rank's selection asks for.
void fit_bursts(Profile& profile, double imbalance);
/// The most of the equal parts over their mean that the profile lets one expect.
[[nodiscard]] double expected_imbalance(const Profile& profile);

// magnitudes.cpp
/// Magnitudes above the threshold, by maximum likelihood of a stretched exponential (Weibull)
/// distribution of `over`, which gets sorted. Returns the distance of Kolmogorov and Smirnov.
double fit_tail(Profile& profile, std::vector<double>& over);
/// All accumulators, by the gradients that the trace holds samples of.
void fit_bulk(Profile& profile, const TraceReader& trace);

// thresholds.cpp
/// The start-up; takes it off `logs`.
void fit_start(Profile& profile, const std::vector<int>& iterations, LogThresholds& logs);
/// Noise and walk over iterations, and the spread over ranks.
std::vector<FittedIncrement> fit_drift(Profile& profile, const std::vector<int>& iterations,
                                       const LogThresholds& logs);

}  // namespace thinwire::traces
