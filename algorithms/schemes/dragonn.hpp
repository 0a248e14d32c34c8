// dragonn: hashed slots around a ring, for tensors where that pays off (Wang et al.,
// DRAGONN, ICML 2022, Algorithms 1 and 2).
//
// Schedule, tensor by tensor: if compression pays off by Equation 1, the selection is written to
// the slots of a hash table (sparsifier dragonn_hash), which are sent around a ring allgather,
// including empty ones, and decoded together (`sparse_decoding`) or one by one; the other tensors
// are allreduced dense around a ring, in buckets of `fusion_words` (Horovod's fusion buffer), which
// are filled from the gradient's end.
//   Equation 1   T_comp(d) < T_full(d) - T_spr(d)
//   T_full(d) = 2 (P-1) (d/D α + d/P β), what a tensor adds to its bucket of D components if nothing
//   is compressed, T_spr(d) = (P-1) (α + s β), s the words of a compressed
//   tensor, T_comp(d) the time of encoding and decoding: in a training what the device's prices
//   make of them, which is also spent; else compress_s + compress_s_per_component d +
//   compress_s_per_entry P s/2, profiled offline. Options that are given override both.
// (The paper then prints the difference as (K-1)(α + (1/K - γ) dA/B); its own two costs give 2/K as
// the first term. We use the costs.) α and β are the parameters of the network that runs.
//
// Cost: (P-1) (α + 2mβ) for each compressed tensor with m slots, 2 (P-1) (α + ceil(d/P) β) for each
// bucket of d components in other tensors.
// Exact if each rank fills its slots. The gradient is one tensor unless a point sets `tensors`.
// Restrictions: none.
// Memory: as topka; each tensor has its own sparsifier.
//
// Worked example: P = 4, one tensor, m = k = 1000 slots: 3 messages of 2000 words.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The parameters of Equation 1, in seconds.
struct TensorProfile {
  double compress_s = 0;                ///< kernel launches and other fixed costs
  double compress_s_per_component = 0;  ///< encoding, and zeros to decode into
  double compress_s_per_entry = 0;      ///< decoding, for the entries of all ranks
  double share_of_messages = 1;         ///< of its bucket's allreduce, if it is not compressed
  double alpha_s = 0;
  double beta_s_per_word = 0;
};
[[nodiscard]] bool worth_compressing(std::int64_t components, std::int64_t compressed_words,
                                     int ranks, const TensorProfile& profile,
                                     Precision precision = {});

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo dragonn_scheme();

}  // namespace thinwire::algorithms
