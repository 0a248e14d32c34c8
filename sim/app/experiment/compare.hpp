// Compares a simulated cost with the cost model of its scheme.
#pragma once

#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::experiment {

/// The result of comparing a row with the formula.
enum class Verdict : std::uint8_t {
  exact,      ///< equals a formula that is exact
  inside,     ///< lies in the formula's interval
  off,        ///< neither
  congested,  ///< flows share links: compared, but not judged
  no_result   ///< skipped or failed
};

[[nodiscard]] std::string name_of(Verdict verdict);

/// Costs are α·messages + β·words + γ·reduced on a network with a clock (they are meaningful only
/// if LogGP's L and o are 0), and the number of messages, in steps, on the counting network.
struct Comparison {
  algorithms::Cost cost;
  double simulated = 0;
  double formula_low = 0;  ///< cost.run(): exact message counts, lower-order terms
  double formula_high = 0;
  double paper_low = 0;  ///< as printed in the paper
  double paper_high = 0;
  double lower_order_low = 0;
  double lower_order_high = 0;
  bool comparable = true;     ///< false if the machine has parameters that the formula lacks
  bool machine_known = true;  ///< false if α and β come from a platform that was not loaded
  Verdict verdict = Verdict::no_result;

  /// The ratio of simulated cost to formula at each end of the interval.
  [[nodiscard]] double ratio_low() const;
  [[nodiscard]] double ratio_high() const;
};

/// `tolerance`: how far the simulated cost may leave the formula's interval, relative to its ends.
[[nodiscard]] Comparison compare(const Row& row, double tolerance);

}  // namespace thinwire::experiment
