// The null model of `validate`: the schemes' formulas with α, β and γ fitted to measured times. No
// network is simulated.
#pragma once

#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::studies {

/// The terms of a collective, and the time that it took.
struct TimedTerms {
  algorithms::Terms terms;
  double seconds = 0;
};

/// The parameters of the formula; none is negative.
struct PlainMachine {
  Seconds alpha;
  Seconds beta_per_word;
  Seconds gamma_per_word;

  /// α messages + β words + γ reduced.
  [[nodiscard]] double seconds(const algorithms::Terms& terms) const;
};

/// The terms of a run of the scheme, in the middle of its formula's interval. `elements` is the
/// number of words of the whole vector, `node` the number of ranks on a node (0: not known).
[[nodiscard]] algorithms::Terms terms_of(
    const std::string& scheme, const std::map<std::string, algorithms::OptionValue>& given,
    int ranks, std::int64_t elements, int node = 0);
/// The same for any point, sparse ones included, in its last iteration.
[[nodiscard]] algorithms::Terms terms_of(const plan::Point& point);

/// The machine with the least sum of squares of log(formula / measured): over and under count
/// alike, and a short time as much as a long one. Throws InputError without rows, or if no row has
/// any term.
[[nodiscard]] PlainMachine fit_plain(const std::vector<TimedTerms>& rows);

}  // namespace thinwire::studies
