// What is known of how trainings converge with a scheme: from its paper, or from another paper that
// compared it with dense training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thinwire::algorithms {

/// How a scheme converges, in comparison with dense training.
enum class Convergence : std::uint8_t {
  exact,    ///< the sum is the dense one, up to rounding
  close,    ///< close to dense training in what was reported, at the densities reported
  worse,    ///< a paper reports that it converges more slowly, or to worse results
  unknown,  ///< no report that was read for this table
};
/// "exact"
[[nodiscard]] std::string name_of(Convergence convergence);

/// What is reported about the convergence of a scheme, and where.
struct ConvergenceReport {
  Convergence convergence = Convergence::unknown;
  std::string_view text;    ///< what was reported
  std::string_view source;  ///< paper and section; empty if nothing is reported
};

/// The report about a scheme, by its name. SCHEME+SPARSIFIER, and schemes from outside, are unknown
/// unless the table names them.
[[nodiscard]] ConvergenceReport convergence_of(std::string_view scheme);

}  // namespace thinwire::algorithms
