// What a rank does of the work that all ranks share.
//
// In a run of all ranks each rank does the part of its number. If few ranks run and stand for all
// (docs/explanation/approximate.md), each does a part that represents the work of all ranks that it
// stands for. A scheme asks for its role in the same way in both cases.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/communicator.hpp"

namespace thinwire::algorithms {

/// Which part of a gradient each rank of a communicator sums, of as many parts as there are ranks.
class PartsOfRanks {
 public:
  /// Rank i sums part i.
  PartsOfRanks() = default;
  /// The parts by rank.
  explicit PartsOfRanks(std::vector<std::int32_t> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] Rank of(Rank rank) const {
    return parts_.empty() ? rank : Rank(parts_[static_cast<std::size_t>(rank.value())]);
  }
  /// All of them by rank; empty if rank i sums part i.
  [[nodiscard]] std::span<const std::int32_t> by_rank() const { return parts_; }

 private:
  std::vector<std::int32_t> parts_;
};

/// The numbers of a selection that ranks add.
using NumbersOf = std::function<std::vector<std::int64_t>(const SparseVector& selected)>;

/// How blocks belong to ranks.
struct BlockOwners {
  std::uint32_t blocks = 0;
  std::function<Rank(std::uint32_t block)> owner;
  /// The block of another owner that is at the same place as a block; that block if there is none.
  std::function<std::uint32_t(Rank owner, std::uint32_t block)> like;
};

/// Ranks among which the numbers that each reports repeat.
struct Repeats {
  int along = 1;  ///< so many ranks that follow one another
  int after = 1;  ///< of which those repeat that are so far apart
};

/// The roles of a run of all ranks, and the base of others.
class Roles {
 public:
  Roles() = default;
  Roles(const Roles&) = delete;
  Roles& operator=(const Roles&) = delete;
  virtual ~Roles() = default;

  [[nodiscard]] static const Roles& of_all_ranks() {
    static const Roles roles;
    return roles;
  }

  /// The parts of the ranks of a communicator. There is one more boundary than parts.
  [[nodiscard]] virtual PartsOfRanks parts(const Communicator& /*comm*/,
                                           const SparseVector& /*selected*/,
                                           const Numbers& /*boundaries*/,
                                           SharedWork& /*shared*/) const {
    return {};
  }
  /// What a rank that selects `selected` adds to the sum of `count` numbers of all ranks.
  [[nodiscard]] virtual Numbers summand(const SparseVector& selected, std::int64_t count,
                                        NumbersOf numbers_of) const {
    return Numbers::deferred(
        count, [selected, numbers_of = std::move(numbers_of)] { return numbers_of(selected); });
  }
  /// Where the numbers of entries of `ranks` ranks repeat; a rail has `along` of these ranks.
  [[nodiscard]] virtual Repeats repeats(int ranks, int /*along*/) const { return {ranks, ranks}; }
  /// For each block the one whose probability of having entries it has; empty: its own.
  [[nodiscard]] virtual std::vector<std::uint32_t> blocks_like(
      const Communicator& /*comm*/, const BlockOwners& /*owners*/) const {
    return {};
  }
};

}  // namespace thinwire::algorithms
