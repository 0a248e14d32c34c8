// The allgathers of dense blocks, as MPI libraries name them. n is the length of the gathered
// vector: rank r contributes block r, n/P words of its own vector, and all ranks end with all
// blocks.
//
//   allgather_ring                (P-1) α + n (P-1)/P β      (NCCL; Open MPI's ring)
//   allgather_recursive_doubling  log P α + n (P-1)/P β      (Thakur et al., IJHPCA 2005)
//   allgather_bruck               ceil(log P) α + n (P-1)/P β   (Bruck et al., TPDS 1997)
//   allgather_neighbor_exchange   P/2 α + n (P-1)/P β        (Chen et al., HPC Asia 2005)
//
// Exact at any P and n with the added terms. If P does not divide n, the first n mod P blocks are a
// word longer, and the path is that of the longest message of each step: around the ring block 0,
// otherwise the first blocks that go together.
// What Open MPI does at other P is done here too: recursive doubling is Bruck's algorithm unless P
// is a power of two, and neighbour exchange is the ring if P is odd.
//
// Worked example: n = 10, P = 4, recursive doubling: blocks 3, 3, 2, 2; 3 words in the first step
// and 6 in the second, so 2 messages and 9 words; the formula gives 10 · 3/4 = 7.5, so 1.5 words
// are added.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> allgather_schemes();

}  // namespace thinwire::algorithms
