// How many entries sparsifiers select over the iterations of a training, with the loop closed: what
// one iteration does not send is in the next one's accumulator.
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
  /// Throws InputError where there is no such sparsifier or option.
  [[nodiscard]] static SparsifierChoice parse(const std::string& text);
};

/// What one sparsifier selected.
struct SelectionSeries {
  std::string sparsifier;
  std::vector<int> iterations;  ///< of the training
  /// Entries over k: [iteration][rank]. Where ranks select in parts of their own, over k/ranks.
  std::vector<std::vector<double>> selected;
};

/// Of a range of iterations.
struct SelectionDeviation {
  double mean = 0;      ///< of what is selected over k
  double of_means = 0;  ///< mean over iterations of |mean over ranks - 1|
  double of_ranks = 0;  ///< mean over iterations and ranks of |selected over k - 1|
  double most = 0;      ///< greatest |mean over ranks - 1|
};
/// Of the iterations from `first` on; zeros where there are none.
[[nodiscard]] SelectionDeviation deviation_of(const SelectionSeries& series, int first);

/// On the gradients that a trace holds, of its sampled coordinates and ranks; k is the trace's
/// density of those. What a rank forgets follows `rule`. Throws InputError where the trace holds no
/// gradients.
[[nodiscard]] SelectionSeries selection_over(const traces::TraceReader& trace,
                                             const SparsifierChoice& choice,
                                             traces::ResidualRule rule);

/// On a profile's drifting thresholds, `iterations` from the start of a training on. The residual
/// is one number a rank: it grows by what gradients bring, shrinks by the magnitudes that are
/// selected, and thresholds are in proportion to it.
[[nodiscard]] SelectionSeries selection_over(const traces::Profile& profile,
                                             const SparsifierChoice& choice, int ranks,
                                             int iterations, std::uint64_t seed);

}  // namespace thinwire::studies
