// Statistics of a trace: the number of entries, their location, and the overlap between ranks and
// between iterations. They are computed window by window.
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

/// The share of the components that are selected by one or more of `ranks` ranks.
struct UnionDensity {
  int ranks = 1;
  double density = 0;
  /// 1 - (1 - d)^ranks, where d is the density of one rank: the union of independent ranks.
  double independent = 0;
};

/// The change ln(threshold in iteration t + lag) - ln(threshold in t), over ranks and t.
struct ThresholdSteps {
  int lag = 1;
  double deviation = 0;  ///< standard deviation
  double mean = 0;
  std::int64_t pairs = 0;  ///< 0: the trace has no iterations this far apart
};

/// The magnitudes from which on ranks selected, in one iteration.
struct Thresholds {
  int iteration = 0;
  Range local;
  std::optional<double> global;
};

struct TraceStatistics {
  std::vector<double> layer_density;  ///< one per layer, mean over ranks and iterations
  Range selected;                     ///< entries of a rank, over k
  std::vector<UnionDensity> unions;   ///< for 1, 2, 4 .. ranks, and for all
  double local_imbalance = 0;         ///< largest of 64 regions over their mean, mean over ranks
  double global_imbalance = 0;        ///< the same for the global top-k, with a region per rank
  double kept = 0;                    ///< share of a rank's selection that it selects again in the
                                      ///< next recorded iteration; 0 if there is only one
  double total_variation = 0;         ///< between the selections of the first and the last window,
                                      ///< by 64 regions: 0 identical, 1 disjoint
  double total_variation_by_chance = 0;  ///< about its expectation for one distribution
  std::vector<ThresholdSteps> drifts;    ///< lags 1, 8, 32
  std::vector<Thresholds> thresholds;    ///< one per iteration
};

[[nodiscard]] TraceStatistics statistics_of(const TraceReader& reader);

/// The mean share of `components` that is selected by one or more of 1, 2, 4 .. consecutive ranks,
/// and of all. Ranks in incomplete groups count only for all of them.
[[nodiscard]] std::vector<UnionDensity> union_densities(const TraceWindow& window,
                                                        std::int64_t components);
/// The k largest entries of the sum of all ranks' selections.
[[nodiscard]] SparseVector global_top_k(const TraceWindow& window, std::int64_t k);
/// The number of entries in each of `regions` parts of equal size.
[[nodiscard]] std::vector<std::int64_t> region_counts(const SparseVector& vector,
                                                      std::int64_t components, int regions);
/// The largest count over the mean; 1 if all are 0.
[[nodiscard]] double imbalance(const std::vector<std::int64_t>& counts);
/// The change over all ranks and pairs of iterations that are `lag` apart; thresholds of 0 are
/// skipped. `thresholds` has one row, with one value per rank, for each of `iterations`.
[[nodiscard]] ThresholdSteps threshold_drift(const std::vector<int>& iterations,
                                             const std::vector<std::vector<float>>& thresholds,
                                             int lag);

}  // namespace thinwire::traces
