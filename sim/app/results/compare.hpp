// Compares a simulated cost with the cost model of its scheme.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::results {

/// The result of comparing a row with the formula.
enum class Verdict : std::uint8_t {
  exact,      ///< equals a formula that is exact
  inside,     ///< lies in the formula's interval, and not above the paper's upper bound
  above,      ///< lies in the formula's interval, but above the paper's upper bound
  off,        ///< neither
  selection,  ///< the ranks select less than half of k, or more than twice as much: the time is not
              ///< the scheme's time at k, and wins no comparison
  congested,  ///< slower than in the platform's LogGP machine, as messages share links: not judged
  faster,     ///< faster than in that machine, since ranks are nearer than the mean pair, or faster
              ///< than the formula, since latencies overlap: not judged
  no_result   ///< skipped or failed
};

[[nodiscard]] std::string name_of(Verdict verdict);

/// Whether the ranks of a run select less than half of k or more than twice as much. False for dense
/// schemes, and if k is 0.
[[nodiscard]] bool selects_far_from_k(const Row& row);

/// Costs are α·messages + β·words + γ·reduced on a network with a clock (they are meaningful only
/// if LogGP's L and o are 0), and the number of messages, in steps, on the counting network.
struct Comparison {
  algorithms::Cost cost;
  double simulated = 0;
  double paper_low = 0;  ///< the paper's formula, as printed; its lower end if it is an interval
  double paper_high = 0;
  double formula_low =
      0;  ///< cost.run(): messages counted, and the terms that the paper leaves out
  double formula_high = 0;
  double added_low = 0;  ///< those terms alone
  double added_high = 0;
  /// Why the formula does not describe the run; empty if it does.
  std::string incomparable;
  bool machine_known = true;  ///< false if α and β come from a platform that was not loaded
  Verdict verdict = Verdict::no_result;
  /// For a scheme with periodic work: the verdict about the mean over its kinds of iterations, with the
  /// formula of each. Its `above` is about the paper's bound, which leaves periodic work out.
  std::optional<Verdict> mean_verdict = {};
  /// Whether the network changed the time, as `congested` and `faster` say. The formula cannot judge
  /// it then.
  bool changed_by_network = false;
  bool misses = false;  ///< the formula can judge the time, which lies outside its interval

  [[nodiscard]] bool comparable() const { return incomparable.empty(); }
  /// The ratios of the simulated cost to the paper's upper and lower end, in this order.
  [[nodiscard]] double ratio_low() const;
  [[nodiscard]] double ratio_high() const;
};

/// What a point costs by the cost model of its scheme, on its own machine, before it has run.
[[nodiscard]] algorithms::Cost cost_of(const plan::Point& point);
/// What the cost model of the point's scheme takes. `options` are the scheme's and outlive it.
[[nodiscard]] algorithms::CostInput cost_input(const plan::Point& point,
                                               const plan::Machine& machine,
                                               const algorithms::Options& options, int iteration);

/// Verdicts are about the formula with the added terms. `tolerance`: how far the simulated cost may
/// leave its interval, relative to the ends.
[[nodiscard]] Comparison compare(const Row& row, double tolerance);

}  // namespace thinwire::results
