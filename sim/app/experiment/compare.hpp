// A simulated cost against the cost model of its scheme.
#pragma once

#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::experiment {

/// What a comparison says of a row.
enum class Verdict : std::uint8_t {
  exact,      ///< equals a formula that is exact
  inside,     ///< lies in the formula's interval
  off,        ///< neither
  congested,  ///< on a network that strays from the α-β machine: compared, and not judged
  no_result   ///< skipped or failed
};

[[nodiscard]] std::string name_of(Verdict verdict);

/// Costs are α·messages + β·words + γ·reduced on a network with a clock (LogGP's L and o must be 0
/// for them to mean something), and messages alone, in steps, on the counting network.
struct Comparison {
  algorithms::Cost cost;
  double simulated = 0;
  double formula_low = 0;  ///< with the messages counted and the lower-order terms added
  double formula_high = 0;
  double paper_low = 0;  ///< as the paper prints it
  double paper_high = 0;
  double lower_order_low = 0;
  double lower_order_high = 0;
  bool comparable = true;     ///< false where the machine has parameters that the formula knows not
  bool machine_known = true;  ///< false where α and β come from a platform that was not loaded
  Verdict verdict = Verdict::no_result;

  /// Simulated over formula at either end of the interval.
  [[nodiscard]] double ratio_low() const;
  [[nodiscard]] double ratio_high() const;
};

/// `tolerance` is relative: of equality where the formula is exact, beyond the ends elsewhere.
[[nodiscard]] Comparison compare(const Row& row, double tolerance);

}  // namespace thinwire::experiment
