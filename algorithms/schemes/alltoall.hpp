// The all-to-alls of dense blocks, as MPI libraries name them. n is what a rank sends in all, its
// own block included: block j of its vector, n/P words, goes to rank j.
//
//   alltoall_pairwise  (P-1) α + n (P-1)/P β    (Open MPI's pairwise)
//   alltoall_linear    (P-1) α + n (P-1)/P β    (Open MPI's linear, and linear_sync with `requests`)
//   alltoall_bruck     log P α + n/2 log P β    (Bruck et al., IEEE TPDS 1997; Open MPI's
//                                                modified_bruck)
//
// Exact with the added terms where P divides n; pairwise always, and linear if all messages are
// posted at once, since rank 0 receives the longest blocks one after another. Otherwise an interval:
// blocks that differ by a word meet in different steps. If P is no power of two, Bruck's last step
// carries fewer blocks, and blocks travel by as many messages as their distance has bits.
// The result of rank r has P blocks, by sender, as one dense block from coordinate 0 on.
//
// Worked example: n = 12, P = 4, bruck: blocks of 3 words. In the first step a rank sends the blocks
// for rank + 1 and rank + 3, in the second those for rank + 2 and rank + 3: 2 messages and 12 words,
// where pairwise sends 3 messages and 9 words.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> alltoall_schemes();

}  // namespace thinwire::algorithms
