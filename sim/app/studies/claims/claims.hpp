// Compares the papers' figures with simulated ones. The facts are in claims.json; each paper's file
// has a function per claim that simulates it: oktopk.cpp, sparcml.cpp ...
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/results/row.hpp"

namespace thinwire::studies {

/// The basis of a simulated figure.
enum class Basis : std::uint8_t {
  formula,     ///< follows from a cost model alone
  calibrated,  ///< a parameter was set to reproduce it
  predicted,
};

/// The criterion that the figure must meet.
enum class FindingKind : std::uint8_t {
  number,    ///< within a quarter of the paper's
  at_most,   ///< no more than the paper's
  at_least,  ///< no less than the paper's
  order,     ///< a statement of the paper, which holds or does not
};

enum class ClaimVerdict : std::uint8_t { holds, misses, not_simulated };

/// One number or statement of a claim.
struct Finding {
  std::string claim;   ///< id in claims.json
  std::string what;    ///< which of its numbers, or its statement
  std::string source;  ///< paper and section, table or figure
  FindingKind kind = FindingKind::number;
  Basis basis = Basis::predicted;
  std::optional<double> paper;
  std::optional<double> simulated;
  std::string unit = {};  ///< of both, "min"; empty for a ratio or a share
  ClaimVerdict verdict = ClaimVerdict::not_simulated;
  std::string note;  ///< why it is not simulated, or the data behind an order
  /// What somebody would answer without this simulator: "no effect", "as CLT-k", "alpha-beta formula".
  std::string null_model;
  std::optional<double> null_value;  ///< its answer, comparable with `paper`
  /// The least and the greatest simulated value while each assumed constant that matters moves over
  /// its published range, one at a time. Nothing if none matters, or if ranges were not asked for.
  std::optional<double> range_low;
  std::optional<double> range_high;
  /// Ends of ranges where it misses although it holds: "greina_ib.alpha_s = 2e-06".
  std::vector<std::string> misses_at;

  /// States the null model of this finding.
  Finding& against(std::string model, double value);
  /// Whether the null model's answer meets the criterion, too; nothing if none is stated.
  [[nodiscard]] std::optional<bool> null_holds() const;
  /// True if this is predicted and the null model's answer misses: only then a success says
  /// something.
  [[nodiscard]] bool informative() const;
  /// True if it is informative by a hair: the null model's answer or the simulated one is within
  /// kBorder of where the criterion begins to be met.
  [[nodiscard]] bool at_border() const;
  /// Notes what the simulation says at an end of the range of an assumed constant.
  void take_end(const std::string& end, const Finding& there);
  /// The simulated value over the reported one.
  [[nodiscard]] std::optional<double> ratio() const;
};

[[nodiscard]] std::string name_of(Basis basis);
[[nodiscard]] std::string name_of(FindingKind kind);
[[nodiscard]] std::string name_of(ClaimVerdict verdict);

/// The largest relative deviation of a number from the paper's.
inline constexpr double kClaimTolerance = 0.25;
/// The relative distance from 1 - kClaimTolerance or 1 + kClaimTolerance that is a hair.
inline constexpr double kBorder = 0.02;
/// Two values whose ratio is smaller are alike: neither is less in an order.
inline constexpr double kClearly = 1.01;
[[nodiscard]] constexpr bool clearly_less(double a, double b) { return kClearly * a < b; }

/// The number of findings, and of those that hold.
struct ClaimCounts {
  int of = 0;
  int hold = 0;
};
/// Counts the simulated findings of a kind and basis.
[[nodiscard]] ClaimCounts count(const std::vector<Finding>& findings, FindingKind kind,
                                Basis basis);

/// The predicted numbers that were simulated, by what their null models say. The informative, the
/// trivial and those without a null model add up to the first.
struct ClaimScore {
  ClaimCounts predicted;
  ClaimCounts informative;   ///< the null model misses
  ClaimCounts at_border;     ///< informative ones that are so by a hair
  ClaimCounts trivial;       ///< the null model holds, too
  ClaimCounts without_null;  ///< no null model is stated
  ClaimCounts over_ranges;   ///< those with a range, and of them those that miss nowhere in it
};
[[nodiscard]] ClaimScore score(const std::vector<Finding>& findings);

/// The path of the shipped claims.json.
[[nodiscard]] std::string claims_file();
/// The ids of the claims, in the order of the file.
[[nodiscard]] std::vector<std::string> claim_ids();

/// The ids that begin with one of `wanted`, all if it is empty. Throws InputError with the nearest id
/// where one of them begins none.
[[nodiscard]] std::vector<std::string> claim_ids(const std::vector<std::string>& wanted);

/// Runs a point. Tests replace it.
using PointRunner = std::function<results::Row(const plan::Point& point)>;
/// Runs the point in a child process.
[[nodiscard]] results::Row run_claims_point(const plan::Point& point);

/// Simulates the claims whose id begins with one of `wanted` (all if it is empty). Calls `progress`
/// with each id before it begins. Throws InputError if no id matches, and SimulationError if a run
/// fails. With `ranges` each finding has its range over the ranges of the assumed constants, for
/// which calibrated parameters stay as they are.
[[nodiscard]] std::vector<Finding> check_claims(
    const std::vector<std::string>& wanted,
    const std::function<void(const std::string& id)>& progress = {},
    const PointRunner& runner = run_claims_point, bool ranges = false);

/// The same in child processes, one for each paper, as many at once as there are processors.
/// `progress` is called with a paper's name ("oktopk"). Throws InterruptedError after Ctrl-C, too.
[[nodiscard]] std::vector<Finding> check_claims_at_once(
    const std::vector<std::string>& wanted,
    const std::function<void(const std::string& paper)>& progress, bool ranges);

}  // namespace thinwire::studies
