// Compares the two networks cell by cell and summarises their differences.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/accuracy/measurement.hpp"

namespace thinwire::accuracy {

/// Larger errors are listed one by one; nine in ten should be smaller.
inline constexpr double kLargeError = 0.10;
/// The median error should not exceed this.
inline constexpr double kWantedMedian = 0.03;

/// The results of a cell on the reference network and on the network that it judges.
struct CellComparison {
  Cell cell;
  std::optional<Measurement> reference = {};
  std::optional<Measurement> judged = {};
  /// The reason why there is no ratio: skipped, missing, failed or too slow; empty if there is one.
  std::string status = {};
  std::string reason = {};

  /// Simulated time of the judged network over the reference's; 1 if both are 0.
  [[nodiscard]] std::optional<double> ratio() const;
  /// |ratio - 1|.
  [[nodiscard]] std::optional<double> error() const;
  /// The slowdown by sharing links, according to the reference.
  [[nodiscard]] std::optional<double> congestion() const;
};

/// Determines the status. If messages or words differ, the two did not run the same schedule: the
/// reference is stale.
[[nodiscard]] CellComparison compare(const Cell& cell, std::optional<Measurement> reference,
                                     std::optional<Measurement> judged);

/// Statistics of |ratio - 1|.
struct Errors {
  std::size_t cells = 0;
  double median = 0;      ///< the mean of the two middle ones if cells is even
  double percentile = 0;  ///< the smallest error that nine in ten do not exceed
  double worst = 0;
  std::size_t large = 0;  ///< above kLargeError
};

[[nodiscard]] Errors errors_of(std::vector<double> errors);

/// The errors of the cells with one value of an axis: "platform" "aries_daint".
struct ErrorGroup {
  std::string by;
  std::string value;
  Errors errors;
};

/// The errors of all cells, then by platform, pattern, size and ranks, in the order of their first
/// occurrence. Groups without a ratio are omitted.
[[nodiscard]] std::vector<ErrorGroup> error_groups(const std::vector<CellComparison>& cells);
/// The cells with an error above kLargeError, in descending order.
[[nodiscard]] std::vector<CellComparison> large_errors(const std::vector<CellComparison>& cells);

}  // namespace thinwire::accuracy
