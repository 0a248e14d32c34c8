// dragonn_hash: entries that reach a threshold are written to the slot given by a hash of their
// index (DRAGONN: Wang et al., ICML 2022, Algorithm 1).
//
// The threshold is dgc's estimate. There are m slots, `slots` times k; index i goes to slot h(i),
// and later indexes overwrite earlier ones. All m slots are sent, including empty ones: with l
// indexes above the threshold an expected share (1 - 1/m)^l of them is empty (section A.2.2), 0.368
// at l = m and 0.135 at l = 2m.
// h is universal (Carter and Wegman, 1979): ((a i + b) mod p) mod m with a prime p above 2^32 and
// random a and b, so two indexes collide with probability at most 1/m. Ours: a and b are drawn for
// each iteration, identically on all ranks; a coordinate that stands for more than one component is
// hashed as one, and m counts coordinates.
//
// Work: dgc's sample (sampled and sorted), n compared, l hashed (Table 1).
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

/// The entries that survive when all are written in the order of their coordinates.
[[nodiscard]] SparseVector hash_survivors(const SparseVector& selected, const UniversalHash& hash);
/// m, the number of slots sent: `slots` times k, from 1 to the number of coordinates; 0 for k = 0.
[[nodiscard]] std::int64_t hash_slots(double slots, std::int64_t k, const GradientSpace& space);
[[nodiscard]] SparsifierInfo dragonn_hash_sparsifier();

}  // namespace thinwire::algorithms
