// Measures how many entries sparsifiers select over the iterations of a training with error
// feedback: what one iteration does not send is in the next one's accumulator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "algorithms/options.hpp"
#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::studies {

/// A sparsifier with its options.
struct SparsifierChoice {
  std::string name;
  std::map<std::string, algorithms::OptionValue> options = {};

  /// NAME or NAME:OPTION=VALUE,... as given to parse().
  [[nodiscard]] std::string text() const;
  /// Throws InputError if there is no such sparsifier or option.
  [[nodiscard]] static SparsifierChoice parse(const std::string& text);
};

/// The selected counts of one sparsifier.
struct SelectionSeries {
  std::string sparsifier;
  std::vector<int> iterations;  ///< iterations of the training
  /// The selected entries over k: [iteration][rank]. If ranks select in disjoint parts, over
  /// k/ranks.
  std::vector<std::vector<double>> selected;
};

/// The deviation of the selected counts from k over a range of iterations.
struct SelectionDeviation {
  double mean = 0;      ///< mean of the selected count over k
  double of_means = 0;  ///< mean over iterations of |mean over ranks - 1|
  double of_ranks = 0;  ///< mean over iterations and ranks of |selected over k - 1|
  double most = 0;      ///< greatest |mean over ranks - 1|
};
/// The deviation over the iterations from `first` on; zeros if there are none.
[[nodiscard]] SelectionDeviation deviation_of(const SelectionSeries& series, int first);

/// Runs a sparsifier on the gradients of a trace, for its sampled coordinates and ranks; k is the
/// trace's density of those. `rule` determines what is removed from a rank's residual. Throws
/// InputError if the trace holds no gradients.
[[nodiscard]] SelectionSeries selection_over(const traces::TraceReader& trace,
                                             const SparsifierChoice& choice,
                                             traces::ResidualRule rule);

/// Runs a sparsifier on a profile's drifting thresholds, for the first `iterations` of a training.
/// The residual is one number per rank: gradients increase it, selected magnitudes decrease it, and
/// thresholds are proportional to it.
[[nodiscard]] SelectionSeries selection_over(const traces::Profile& profile,
                                             const SparsifierChoice& choice, int ranks,
                                             int iterations, std::uint64_t seed);

}  // namespace thinwire::studies
