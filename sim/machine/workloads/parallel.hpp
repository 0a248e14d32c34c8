// The groups of ranks that train a model together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/kernel/in_switches.hpp"

namespace thinwire::workloads {

/// The groups of one kind, of equal size. Each rank is in one of them.
struct ListedGroups {
  std::vector<std::vector<std::int32_t>> groups;
  std::vector<std::uint32_t> group_of;  ///< by rank
};

/// The groups of both kinds, as a file lists them.
struct GroupsFile {
  std::string path;
  ListedGroups tensor;
  ListedGroups data;
};

/// The division of P ranks into groups. The ranks of a tensor-parallel group share the layers of one
/// copy of the model, and train on the same samples. The ranks of a data-parallel group hold the
/// same share of the layers, and sum its gradient. Each rank is in one group of each kind, and two
/// ranks have at most one group in common.
struct Parallel {
  int tensor = 1;  ///< ranks of a tensor-parallel group
  int data = 0;    ///< ranks of a data-parallel group; 0: P / tensor
  /// Ranks with consecutive numbers form a data-parallel group, and not a tensor-parallel one.
  bool data_first = false;
  std::shared_ptr<const GroupsFile> file = {};  ///< whose groups they are; empty: regular ones

  friend bool operator==(const Parallel&, const Parallel&) = default;

  /// Whether `ranks` ranks can be divided so.
  [[nodiscard]] bool divides(int ranks) const;
  /// The groups of a rank of `ranks`, which this divides.
  [[nodiscard]] Members tensor_group(Rank rank, int ranks) const;
  [[nodiscard]] Members data_group(Rank rank, int ranks) const;
  /// Whether two ranks are in one data-parallel group.
  [[nodiscard]] bool sum_together(Rank one, Rank other, int ranks) const {
    return data_group(one, ranks).key() == data_group(other, ranks).key();
  }
};

/// Reads "tp=8,dp=32", where the ranks of the group that is named first have consecutive numbers, or
/// the path of a file, which has a dot or a slash. A line of the file is a group: "tp" or "dp", and
/// its ranks in their order in the group. Groups of the kind that the file leaves out are the first
/// ranks of all others, the second ones, and so on. Throws InputError, which names the line.
[[nodiscard]] Parallel parallel_from(const std::string& text);
/// Writes it, or the path; empty if all ranks are one data-parallel group.
[[nodiscard]] std::string text_of(const Parallel& parallel);

}  // namespace thinwire::workloads
