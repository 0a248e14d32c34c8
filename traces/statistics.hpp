// What a trace is like: how many entries, where they lie, how much ranks and iterations have in
// common. Computed window by window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/trace.hpp"

namespace thinwire::traces {

struct Range {
  double least = 0;
  double mean = 0;
  double most = 0;
};

/// Share of the components that are selected by one or more of `ranks` ranks.
struct UnionDensity {
  int ranks = 1;
  double density = 0;
  /// 1 - (1 - d)^ranks, where d is the density of one rank: what ranks that know nothing of one
  /// another would have.
  double independent = 0;
};

/// Of ln(threshold in iteration t + lag) - ln(threshold in t), over ranks and t.
struct ThresholdSteps {
  int lag = 1;
  double deviation = 0;  ///< standard deviation
  double mean = 0;
  std::int64_t pairs = 0;  ///< 0: the trace has no iterations this far apart
};

/// The magnitude from which on ranks selected, in one iteration.
struct Thresholds {
  int iteration = 0;
  Range local;
  std::optional<double> global;
};

struct TraceStatistics {
  std::vector<double> layer_density;  ///< one a layer, mean of ranks and iterations
  Range selected;                     ///< entries of a rank, by k
  std::vector<UnionDensity> unions;   ///< of 1, 2, 4 .. ranks, and of all
  double local_imbalance = 0;         ///< fullest of 64 regions by their mean, mean of ranks
  double global_imbalance = 0;        ///< the same for the global top-k and a region a rank
  double kept = 0;                    ///< share of a rank's selection that it selects again in the
                                      ///< next recorded iteration; 0 where there is one alone
  double total_variation = 0;         ///< between where the first and the last window's
                                      ///< selections lie, by 64 regions: 0 alike, 1 apart
  double total_variation_by_chance = 0;  ///< what so many entries of one law would have, about
  std::vector<ThresholdSteps> drifts;    ///< lags 1, 8, 32
  std::vector<Thresholds> thresholds;    ///< one an iteration
};

[[nodiscard]] TraceStatistics statistics_of(const TraceReader& reader);

/// Mean share of `components` that is selected by one or more of 1, 2, 4 .. consecutive ranks, and
/// of all. Ranks left over where groups do not fit count only for all of them.
[[nodiscard]] std::vector<UnionDensity> union_densities(const TraceWindow& window,
                                                        std::int64_t components);
/// The k largest of the sum of all ranks' selections.
[[nodiscard]] SparseVector global_top_k(const TraceWindow& window, std::int64_t k);
/// Entries in each of `regions` parts of equal size.
[[nodiscard]] std::vector<std::int64_t> region_counts(const SparseVector& vector,
                                                      std::int64_t components, int regions);
/// The fullest by the mean; 1 where all are empty.
[[nodiscard]] double imbalance(const std::vector<std::int64_t>& counts);
/// Over all ranks and pairs of iterations that are `lag` apart; thresholds of 0 are left out.
/// `thresholds` has a row of all ranks for each of `iterations`.
[[nodiscard]] ThresholdSteps threshold_drift(const std::vector<int>& iterations,
                                             const std::vector<std::vector<float>>& thresholds,
                                             int lag);

}  // namespace thinwire::traces
