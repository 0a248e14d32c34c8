// dragonn_hash: what reaches a threshold is written where a hash of its index says (DRAGONN: Wang
// et al., ICML 2022, Algorithm 1).
//
// The threshold is dgc's estimate. There are m slots, `slots` times k; index i goes to slot h(i),
// and later indexes overwrite earlier ones. The m slots travel, the empty ones too: with l indexes
// above the threshold a share (1 - 1/m)^l of them is expected to be empty (section A.2.2), 0.368
// at l = m and 0.135 at l = 2m. What is overwritten is not sent and stays in the residual.
// h is universal (Carter and Wegman, 1979): ((a i + b) mod p) mod m with a prime p above 2^32 and
// random a and b, so two indexes meet with probability at most 1/m. Ours: a and b are drawn for
// each iteration, alike on all ranks; a coordinate that stands for more than one component is
// hashed as one, and m counts coordinates.
//
// Work: dgc's sample (scanned and sorted), compared n, hashed l (Table 1).
//
// Example: m = 2, selected {3, 5, 8}, h(3) = 0, h(5) = 1, h(8) = 0: slot 0 holds 8, slot 1 holds 5,
// so {5, 8} are sent in 2 slots.
#pragma once

#include <cstdint>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// One function of the family, chosen by `key`.
class UniversalHash {
 public:
  UniversalHash(std::uint64_t key, std::int64_t slots);
  [[nodiscard]] std::uint64_t operator()(std::uint32_t index) const;
  [[nodiscard]] std::uint64_t slots() const { return slots_; }

 private:
  std::uint64_t slots_;
  std::uint64_t factor_;
  std::uint64_t shift_;
};

/// The entries that are not overwritten when all are written in order of their coordinates.
[[nodiscard]] SparseVector hash_survivors(const SparseVector& selected, const UniversalHash& hash);
/// m, the coordinates that travel: `slots` times k, at least one and at most all; none for k = 0.
[[nodiscard]] std::int64_t hash_slots(double slots, std::int64_t k, const GradientSpace& space);
[[nodiscard]] SparsifierInfo dragonn_hash_sparsifier();

}  // namespace thinwire::algorithms
