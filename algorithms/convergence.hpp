// What is known of how trainings converge with a scheme: from its paper, or from another paper that
// compared it with dense training.
#pragma once

#include <cstdint>
#include <optional>
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

/// What trainings of a small model said (results/training/): the accuracy at the end minus
/// the accuracy of dense training, in points, as the mean over seeds with its 95% interval.
struct MeasuredConvergence {
  std::string_view scheme;
  std::string_view model;  ///< its name in thinwire-train
  double density = 0;
  int ranks = 0;
  int iterations = 0;
  int seeds = 0;
  double points_above_dense = 0;
  double low = 0;
  double high = 0;
};

/// The training of a scheme whose density is nearest to the given one, and of those the one whose
/// number of ranks is; nothing if the scheme has none.
[[nodiscard]] std::optional<MeasuredConvergence> measured_convergence(std::string_view scheme,
                                                                      double density, int ranks);

}  // namespace thinwire::algorithms
