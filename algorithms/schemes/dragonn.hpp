// dragonn: hashed slots around a ring, for those tensors for which that pays (Wang et al., DRAGONN,
// ICML 2022, Algorithms 1 and 2).
//
// Schedule, tensor by tensor: where Equation 1 says that it pays, the selection goes through slots
// of a hash table (sparsifier dragonn_hash), which travel around a ring allgather, the empty ones
// too, and are decoded at once (`sparse_decoding`) or one by one; other tensors are allreduced
// dense around a ring.
//   Equation 1   T_comp(d) < T_full(d) - T_spr(d)
//   T_full(d) = 2 (P-1) (α + d/P β), T_spr(d) = (P-1) (α + s β), s the words of a compressed
//   tensor, T_comp(d) = compress_s + compress_s_per_component d, profiled offline; in a training
//   both follow from the device's prices, which are then spent too.
// (The paper goes on to print the difference as (K-1)(α + (1/K - γ) dA/B); from its own two costs
// the first term is 2/K. We take the costs.) α and β are those of the network that runs.
//
// Cost: of each compressed tensor (P-1) (α + 2mβ) with m slots, of each other one
// 2 (P-1) (α + ceil(d/P) β). Exact where nothing is left over by the rings.
// The gradient is one tensor unless a point says `tensors`. Restrictions: none.
// Memory: as topka; a tensor has a sparsifier of its own.
//
// Worked example: P = 4, one tensor, m = k = 1000 slots: 3 messages of 2000 words.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Equation 1, in seconds.
struct TensorProfile {
  double compress_s = 0;                ///< launch of the kernels, and all that is there once
  double compress_s_per_component = 0;  ///< encoding and decoding
  double alpha_s = 0;
  double beta_s_per_word = 0;
};
[[nodiscard]] bool worth_compressing(std::int64_t components, std::int64_t compressed_words,
                                     int ranks, const TensorProfile& profile);

/// Without a sparsifier.
[[nodiscard]] SchemeInfo dragonn_scheme();

}  // namespace thinwire::algorithms
