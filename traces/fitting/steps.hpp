// The steps of a fit (traces/fit.hpp), one file each. Each sets a part of the profile and its
// origin.
#pragma once

#include <string>
#include <vector>

#include "traces/fit.hpp"
#include "traces/fitting/selections.hpp"

namespace thinwire::traces {

/// ln threshold by recorded iteration and rank.
using LogThresholds = std::vector<std::vector<double>>;

/// Sets the provenance of `entries` of the profile.
inline void provide(Profile& profile, const std::vector<std::string>& entries,
                    const Provenance& from) {
  for (const std::string& entry : entries) profile.provenance[entry] = from;
}

// popularity.cpp
/// Fits ρ, a and the share that is never selected, by least squares on the unions.
void fit_popularity(Profile& profile, const std::vector<FittedUnion>& unions);
/// Fits χ to the pairs of ranks that select in one block.
void fit_clustering(Profile& profile, const Selections& selections);
/// Fits the bursts to the imbalance of a rank's selection.
void fit_bursts(Profile& profile, double imbalance);
/// The expected value, by the profile, of the largest of the equal parts over their mean.
[[nodiscard]] double expected_imbalance(const Profile& profile);

// magnitudes.cpp
/// Fits the magnitudes above the threshold: maximum likelihood of a stretched exponential (Weibull)
/// distribution of `over`, which gets sorted. Returns the Kolmogorov-Smirnov distance.
double fit_tail(Profile& profile, std::vector<double>& over);
/// Fits the magnitudes of whole accumulators to the sampled gradients of the trace.
void fit_bulk(Profile& profile, const TraceReader& trace);

// thresholds.cpp
/// Fits the start-up, and subtracts it from `logs`.
void fit_start(Profile& profile, const std::vector<int>& iterations, LogThresholds& logs);
/// Fits noise and walk over iterations, and the spread over ranks.
std::vector<FittedIncrement> fit_drift(Profile& profile, const std::vector<int>& iterations,
                                       const LogThresholds& logs);

}  // namespace thinwire::traces
