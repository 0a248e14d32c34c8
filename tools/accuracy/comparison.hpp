// The two networks side by side, cell by cell, and how far they are apart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/accuracy/measurement.hpp"

namespace thinwire::accuracy {

/// Errors above it are listed one by one; nine in ten are to be below.
inline constexpr double kLargeError = 0.10;
/// The median error is to be no more.
inline constexpr double kWantedMedian = 0.03;

/// A cell on the reference and on the network that is judged by it.
struct CellComparison {
  Cell cell;
  std::optional<Measurement> reference = {};
  std::optional<Measurement> judged = {};
  /// Why there is no ratio: skipped, missing, failed or too slow; empty where there is one.
  std::string status = {};
  std::string reason = {};

  /// Simulated time of the judged network over the reference's; 1 where both are 0.
  [[nodiscard]] std::optional<double> ratio() const;
  /// |ratio - 1|.
  [[nodiscard]] std::optional<double> error() const;
  /// How many times longer than alone on the links the reference says it takes.
  [[nodiscard]] std::optional<double> congestion() const;
};

/// Settles the status. Messages or words that differ mean that the two did not run the same
/// schedule: then the reference is stale.
[[nodiscard]] CellComparison compare(const Cell& cell, std::optional<Measurement> reference,
                                     std::optional<Measurement> judged);

/// Of |ratio - 1|, as shares.
struct Errors {
  std::size_t cells = 0;
  double median = 0;      ///< the mean of the two in the middle where cells are even
  double percentile = 0;  ///< the least error that nine in ten do not exceed
  double worst = 0;
  std::size_t large = 0;  ///< above kLargeError
};

[[nodiscard]] Errors errors_of(std::vector<double> errors);

/// "platform" "aries_daint", and the errors of its cells.
struct ErrorGroup {
  std::string by;
  std::string value;
  Errors errors;
};

/// All cells; then by platform, pattern, size and ranks, in the order in which they first come.
/// Groups without a ratio are left out.
[[nodiscard]] std::vector<ErrorGroup> error_groups(const std::vector<CellComparison>& cells);
/// Those above kLargeError, the largest first.
[[nodiscard]] std::vector<CellComparison> large_errors(const std::vector<CellComparison>& cells);

}  // namespace thinwire::accuracy
