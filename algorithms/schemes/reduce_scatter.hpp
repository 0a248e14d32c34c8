// The reduce-scatters of dense vectors, as MPI libraries name them. n is the length of a rank's
// input: rank r ends with block r of the sum, n/P words.
//
//   reduce_scatter_ring               (P-1) α + n (P-1)/P (β + γ)    (Open MPI's ring)
//   reduce_scatter_recursive_halving  log P α + n (P-1)/P (β + γ)    (Thakur et al., IJHPCA 2005)
//   reduce_scatter_pairwise           (P-1) α + n (P-1)/P (β + γ)    (MPICH's pairwise)
//
// Exact at any P and n with the added terms:
//   - If P does not divide n, the first n mod P blocks are a word longer. Block 0 is on the path of
//     the ring and of the pairwise exchange, and the halves that contain it on that of halving.
//   - If P is no power of two, halving folds in: α + n (β + γ) before, α + n/P β afterwards, and the
//     blocks of a pair stay together (Open MPI, coll_base_reduce_scatter.c, basic_recursivehalving,
//     and MPICH; Open MPI leaves out messages of empty blocks, which are sent here).
//
// Worked example: n = 12, P = 3, halving: rank 0 sends rank 1 all 12 words, ranks 1 and 2 exchange
// 4 and 8 words, and rank 1 sends rank 0 its 4: 3 messages and 24 words, of which 16 are added.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> reduce_scatter_schemes();

}  // namespace thinwire::algorithms
