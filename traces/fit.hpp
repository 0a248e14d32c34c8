// Fits a profile to a recorded trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

struct FitSettings {
  std::string name;
  /// Regions end where layers end, and at the ends of this number of equal parts of all components.
  int parts = 64;
};

/// The density of the union of the selections of `ranks` ranks.
struct FittedUnion {
  int ranks = 1;
  double trace = 0;  ///< mean over iterations and all subsets of that size
  double copula = 0;
  double beta = 0;
};

/// The standard deviation of the change of ln threshold in `lag` iterations.
struct FittedIncrement {
  int lag = 1;
  double trace = 0;
  double profile = 0;
};

struct ProfileFit {
  Profile profile;
  std::vector<FittedUnion> unions;  ///< 1, 2, 4 .. ranks and all of them
  std::vector<FittedIncrement> increments;
  /// Kolmogorov-Smirnov distance of magnitudes over the threshold from the stretched exponential.
  double magnitude_distance = 0;
  /// The largest of 64 equal parts over the mean, for one rank's selection in one iteration.
  double imbalance_trace = 0;
  double imbalance_profile = 0;

  /// The largest relative error of `unions`, for either family.
  [[nodiscard]] double union_error() const;
};

/// Throws InputError when the trace has too little data for a fit.
[[nodiscard]] ProfileFit fit_profile(const TraceReader& trace, const FitSettings& settings);

}  // namespace thinwire::traces
