// A profile from a recorded trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

struct FitSettings {
  std::string name;
  /// Regions end where layers end, and where one of so many equal parts of all components does.
  int parts = 64;
};

/// Density of the union of what `ranks` ranks select.
struct FittedUnion {
  int ranks = 1;
  double trace = 0;  ///< mean over iterations and over all subsets of so many ranks
  double copula = 0;
  double beta = 0;
};

/// Standard deviation of what ln threshold moves in `lag` iterations.
struct FittedIncrement {
  int lag = 1;
  double trace = 0;
  double profile = 0;
};

struct ProfileFit {
  Profile profile;
  std::vector<FittedUnion> unions;  ///< 1, 2, 4 .. ranks and all of them
  std::vector<FittedIncrement> increments;
  /// Greatest distance between the distribution of the magnitudes over the threshold and the
  /// stretched exponential (Kolmogorov, Smirnov).
  double magnitude_distance = 0;
  /// The most of 64 equal parts over the mean, of one rank's selection in one iteration.
  double imbalance_trace = 0;
  double imbalance_profile = 0;

  /// The largest relative error of `unions`, of either family.
  [[nodiscard]] double union_error() const;
};

/// Throws InputError where the trace has too little for a fit.
[[nodiscard]] ProfileFit fit_profile(const TraceReader& trace, const FitSettings& settings);

}  // namespace thinwire::traces
