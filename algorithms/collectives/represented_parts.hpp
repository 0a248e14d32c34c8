// Which part of the gradient each rank has when few ranks run and stand for all.
//
// In a split, rank i sums part i of the gradient. Parts do not have equally many entries, and all
// ranks wait for the fullest. If few ranks run, their own parts would be a poor sample: seldom the
// fullest of all. So each of them takes a part that stands for a share of all parts, and one of them
// takes the fullest. What the ranks send is cut accordingly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/setup.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/communicator.hpp"

namespace thinwire::algorithms {

/// The part of each rank: its own, unless few ranks run.
class RepresentedParts {
 public:
  /// `boundaries` are those of the parts, one more than the communicator has ranks. Expected numbers
  /// of entries are those of `selected`, which is statistical or empty.
  RepresentedParts(const Communicator& comm, const SparseVector& selected,
                   const Numbers& boundaries, const SchemeSetup& setup);

  /// All of them by rank; empty if each rank has its own.
  [[nodiscard]] std::span<const std::int32_t> by_rank() const { return parts_; }
  /// The part that the representative of a rank sums.
  [[nodiscard]] Rank of(Rank rank) const {
    return parts_.empty() ? rank : Rank(parts_[static_cast<std::size_t>(rank.value())]);
  }

 private:
  std::vector<std::int32_t> parts_;  ///< by rank; empty if each rank has its own
};

/// The ranks that run, in order.
[[nodiscard]] std::vector<std::int32_t> running_ranks(const Communicator& comm);

/// The group of parts for which one of `count` ranks that run stands, by its number among them. If
/// they are a power of two, it has the bits of the number in reverse order: allgather() joins such
/// ranks in an order in which the last steps join the halves of the gradient.
[[nodiscard]] std::uint32_t group_of(std::uint32_t number, std::uint32_t count);

/// Of parts with these loads, `count` that stand for all: of each of `count` groups of parts that
/// follow one another the one that is nearest to the mean of its group, and the fullest of all parts
/// for the group that it is in.
[[nodiscard]] std::vector<std::int64_t> representative_parts(const std::vector<double>& loads,
                                                             std::size_t count);

}  // namespace thinwire::algorithms
