// spardl: SparDL (Zhao et al., ICDE 2024; arXiv 2304.00737): a reduce-scatter and an allgather of P
// blocks, in which no block ever holds more than its share of k, so that nothing fills in.
//
// Sources: the abstract and the published code (ZJU-DAILY/SparDL, allreducer.py). The paper itself
// could not be read for this. What is ours is marked so.
//
// Schedule, with d teams of m = P/d ranks each and m blocks, of which each may hold q = k/m entries:
//   spar_reduce_scatter  inside each team, in steps of the distances 2^(ceil(log m) - 1) ... 2, 1:
//                        rank w holds blocks w, w+1 ... and sends those from w + distance on to rank
//                        w + distance as one message (a bag), which adds them to its own. A block is
//                        cut to its q largest entries before it is sent, and in the end
//   spar_all_gather      only if d > 1: the ranks of all teams that hold the same block sum it. If d
//                        is a power of two (R-SAG), they exchange it at the distances 1, 2, 4 ... and
//                        keep the q largest of each sum. Otherwise (B-SAG) each sends its h largest
//                        entries by Bruck's allgather, and the q largest of the sum remain; h is
//                        between q/d and q and follows the size of the sum, as in the code
//   allgather            of the m blocks inside each team, Bruck
// m need not be a power of two. In the code each block of a bag is a message, and indexes, values and
// sizes are messages of their own; here a bag is one (ours, after the paper's name for it).
// The code selects from the whole own block after the sum; here from what the sparsifier selected.
//
// Residuals (GRES): an entry that a rank drops on the way is not lost if its index is in the result:
// the rank keeps the partial sum (Reduced::returned), a share of it if other ranks have the same. If
// the index is not in the result, every rank keeps its own value. So residuals and results together
// always are all gradients; a test adds them up.
//
// Cost if every block holds its share:
//   spar_reduce_scatter  ceil(log m) α + 2k (m-1)/m β
//   spar_all_gather      log d α + 2q log d β, or ceil(log d) α + 2h (d-1) β
//   allgather            ceil(log m) α + 2k (m-1)/m β
// With one team 2 ceil(log P) α + 4k (P-1)/P β at any P. Exact if block_topk selects k, P/d divides
// k and d is a power of two. Other sparsifiers fill blocks unevenly: they send less, and lose less
// than they seem to, as a block's surplus returns to the rank.
// Restrictions: `teams` divides P. Memory: a selection, and one result for each team.
//
// Worked example: P = 6, k = 600: blocks of 100 entries; bags of 2, 2 and 1 blocks, and the same in
// the allgather: 6 α + 2000 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo spardl_scheme();

}  // namespace thinwire::algorithms
