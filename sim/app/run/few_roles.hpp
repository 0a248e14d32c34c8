// What few ranks do when they stand for all (docs/explanation/approximate.md).
//
// In a split, rank i sums part i of the gradient. Parts do not have equally many entries, and all
// ranks wait for the fullest. If few ranks run, their own parts would be a poor sample: seldom the
// fullest of all. So each of them takes a part that stands for a share of all parts, and one of
// them takes the fullest. What the ranks send is cut accordingly.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/roles.hpp"
#include "sim/machine/networks/common/approximate/few_ranks.hpp"

namespace thinwire::run {

/// The roles of few ranks. Selections are statistical or empty.
class FewRoles final : public algorithms::Roles {
 public:
  explicit FewRoles(networks::FewRanks few) : few_(few) {}

  /// The parts that representative_parts() chooses, by the numbers of entries that are expected in
  /// each part.
  [[nodiscard]] algorithms::PartsOfRanks parts(const Communicator& comm,
                                               const SparseVector& selected,
                                               const Numbers& boundaries,
                                               SharedWork& shared) const override;
  /// The mean over up to 32 of the ranks that a rank stands for. Its own numbers are added many
  /// times, and alone they would scatter more than the numbers of all ranks.
  [[nodiscard]] Numbers summand(const SparseVector& selected, std::int64_t count,
                                algorithms::NumbersOf numbers_of) const override;
  /// Along each rail after the ranks that run.
  [[nodiscard]] algorithms::Repeats repeats(int ranks, int along) const override;
  /// A rank that receives another rank's blocks for several owners takes them for the blocks of as many
  /// ranks for one owner.
  [[nodiscard]] std::vector<std::uint32_t> blocks_like(
      const Communicator& comm, const algorithms::BlockOwners& owners) const override;

 private:
  networks::FewRanks few_;
};

/// Chooses `count` of the parts with these loads to stand for all. Parts that follow one another form
/// `count` groups, and each group is represented by the part nearest to its mean; the group with the
/// fullest part of all, by this part.
[[nodiscard]] std::vector<std::int64_t> representative_parts(const std::vector<double>& loads,
                                                             std::size_t count);

}  // namespace thinwire::run
