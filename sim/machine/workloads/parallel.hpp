// The groups of ranks that train a model together.
#pragma once

#include <string>

#include "sim/core/kernel/in_switches.hpp"

namespace thinwire::workloads {

/// The division of P ranks into groups. The ranks of a tensor-parallel group share the layers of one
/// copy of the model, and train on the same samples. The ranks of a data-parallel group hold the
/// same share of the layers, and sum its gradient. Each rank is in one group of each kind, and two
/// ranks have at most one group in common.
struct Parallel {
  int tensor = 1;  ///< ranks of a tensor-parallel group
  int data = 0;    ///< ranks of a data-parallel group; 0: P / tensor
  /// Ranks with consecutive numbers form a data-parallel group, and not a tensor-parallel one.
  bool data_first = false;

  friend bool operator==(const Parallel&, const Parallel&) = default;

  /// Whether `ranks` ranks can be divided so.
  [[nodiscard]] bool divides(int ranks) const;
  /// The groups of a rank of `ranks`, which this divides.
  [[nodiscard]] Members tensor_group(Rank rank, int ranks) const;
  [[nodiscard]] Members data_group(Rank rank, int ranks) const;
};

/// Reads "tp=8,dp=32". The ranks of the group that is named first have consecutive numbers. Throws
/// InputError.
[[nodiscard]] Parallel parallel_from(const std::string& text);
/// Writes it; empty if all ranks are one data-parallel group.
[[nodiscard]] std::string text_of(const Parallel& parallel);

}  // namespace thinwire::workloads
