// block_topk: the largest entries of every one of B equal blocks (SparDL, ICDE 2024: each worker
// selects k/P entries in each of P blocks, which keeps the blocks of equal length).
//
// Block i gets the entries [i k/B, (i+1) k/B) of k, shared out as equally as possible, so that all
// together select k. There is one block per rank; where the scheme has teams (spardl), one block per
// rank of a team. The lower coordinate wins a tie. Components that the accumulator does not hold are
// 0 and never selected: a block that holds fewer than its share sends fewer.
//
// Work: an exact selection out of each block, of n components together.
// Restrictions: none.
//
// Example: B = 2, n = 8, k = 2, accumulator {0: 1, 1: -5, 2: 3, 6: 2}: {1: -5, 6: 2}.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// The option of the schemes with teams: their number.
inline constexpr const char* kTeamsOption = "teams";

/// The division of a gradient into equal blocks, of which each may hold its share of k.
class Blocks {
 public:
  Blocks(const SchemeSetup& setup, int count) : setup_(setup), count_(count) {}

  [[nodiscard]] int count() const { return count_; }
  /// The coordinate at which a block begins; block `count` is the end.
  [[nodiscard]] std::uint32_t begin(int block) const {
    return setup_.space.coordinate(part_begin(setup_.space.components, count_, block));
  }
  /// The most entries of a block.
  [[nodiscard]] std::int64_t share(int block) const {
    return part_length(setup_.carried_k(), count_, block);
  }
  /// The parts of a vector in the blocks.
  [[nodiscard]] std::vector<SparseVector> cut(const SparseVector& vector) const;

 private:
  const SchemeSetup& setup_;
  int count_;
};

[[nodiscard]] SparsifierInfo block_topk_sparsifier();

}  // namespace thinwire::algorithms
