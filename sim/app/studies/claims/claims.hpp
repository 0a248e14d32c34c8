// What the papers report beside what is simulated. The facts are claims.json; how each is simulated
// is a function of the paper's file: oktopk.cpp, sparcml.cpp, exdyna.cpp, dragonn.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/config.hpp"

namespace thinwire::studies {

/// How a simulated figure comes about.
enum class Basis : std::uint8_t {
  formula,     ///< it follows from a cost model alone
  calibrated,  ///< a parameter was set such that this one comes out
  predicted,
};

/// What has to be true of it.
enum class FindingKind : std::uint8_t {
  number,   ///< within a quarter of the paper's
  at_most,  ///< no more than the paper's
  order,    ///< a statement of the paper, that holds or not
};

enum class ClaimVerdict : std::uint8_t { holds, misses, not_simulated };

/// One number or statement of a claim.
struct Finding {
  std::string claim;   ///< id in claims.json
  std::string what;    ///< which of its numbers, or what it says
  std::string source;  ///< paper and place
  FindingKind kind = FindingKind::number;
  Basis basis = Basis::predicted;
  std::optional<double> paper;
  std::optional<double> simulated;
  ClaimVerdict verdict = ClaimVerdict::not_simulated;
  std::string note;  ///< why it is not simulated, or what an order was judged by

  /// Simulated over reported.
  [[nodiscard]] std::optional<double> ratio() const;
};

[[nodiscard]] std::string name_of(Basis basis);
[[nodiscard]] std::string name_of(FindingKind kind);
[[nodiscard]] std::string name_of(ClaimVerdict verdict);

/// How far a number may be from the paper's, as a share of it.
inline constexpr double kClaimTolerance = 0.25;

/// How many findings there are, and how many hold.
struct ClaimCounts {
  int of = 0;
  int hold = 0;
};
/// Those that are simulated.
[[nodiscard]] ClaimCounts count(const std::vector<Finding>& findings, FindingKind kind,
                                Basis basis);

/// The path of the shipped facts.
[[nodiscard]] std::string claims_file();
/// Ids, in the order of the file.
[[nodiscard]] std::vector<std::string> claim_ids();

/// Simulates the claims whose id begins with one of `wanted` (all where that is empty). Calls
/// `progress` with each id before it begins. Throws InputError where no id begins so, and
/// SimulationError where a run fails.
[[nodiscard]] std::vector<Finding> check_claims(
    const std::vector<std::string>& wanted,
    const std::function<void(const std::string& id)>& progress = {});

}  // namespace thinwire::studies
