// oktopk: the O(k) sparse allreduce of Ok-Topk (Li and Hoefler, PPoPP 2022), all of Algorithm 1.
//
// Schedule of iteration t, on each rank:
//   local selection       every τ' iterations the exact k-th largest magnitude becomes the local
//                         threshold; otherwise it is reused (lines 2-4)
//   repartition           every τ iterations: boundaries that balance the local selection over P
//                         regions, averaged over the ranks by an allreduce of P words (lines 5-7)
//   split_and_reduce      region i of the selection to rank i by direct exchange, destinations
//                         rotated, `bucket` of them in flight; rank i sums region i (line 8)
//   global_threshold      every τ' iterations: allgatherv of the reduced regions, whose k-th
//                         largest magnitude becomes the global threshold (lines 9-12)
//   sizes                 allgather of the number of entries of each region above the threshold
//   balance               only if the largest is more than `trigger` times the mean: entries move
//                         point to point until all ranks hold the same number
//   allgatherv            recursive doubling (line 13)
// The result is the union of the pieces; the local selections in it are the contribution (line 14).
//
// Cost (Equations 1 to 3, Table 1):
//   split_and_reduce      (P-1) α + 2k (P-1)/P β, if all ranks select in the same places
//   sizes                 log P α, and P-1 words that the paper omits
//   balance               at most (P-1) α + 2k (P-1)/P β
//   allgatherv            log P α + 2k (P-1)/P β
//   total                 (2P + 2 log P) α + [2k (P-1)/P, 6k (P-1)/P] β
// Counted: P-1 + 2 ceil(log P) messages, and up to P-1 more if balancing moves entries. A gather that
// is not balanced, because no size exceeds c times the mean (`trigger`), takes up to
// 2k + 2k log c - 2ck/P words. Above c = 2 that exceeds what Equation 2 allows for balancing and
// gather together, 4k (P-1)/P. Where the ranks select in different places, the
// averaged boundaries suit none of them, and the split takes up to 2k (P-1) words.
// Exact at the lower end (Theorem 3.1): every rank selects in its own region, k/P of it global. In
// iterations that repartition or set the global threshold those collectives are added terms:
// ceil(log P) (α + Pβ), and ceil(log P) α + at most 2 min(n, kP) β per step.
//
// Options are the paper's parameters and optimisations; each one switched off is a naive variant:
//   balanced_split=false  equal regions: up to 2k (P-1) words into one rank
//   rotation=false        at step i every rank sends to rank i, all steps of a bucket at once: the
//                         ranks of a bucket receive and reduce while the others wait, which takes
//                         ceil(P/bucket) times as long, and P times with bucket=1
//   bucket=1              no bucketing: sends that block, one exchange at a time, reduced before
//                         the next
//   sliding=false         all exchanges of a bucket are awaited together, as in the published code
//   published=true        as the published code: counts first, indexes and values as separate
//                         messages (3 (P-1) messages for the split), whole buckets of which the
//                         first counts the rank itself, its rule for boundaries; in iterations of
//                         exact thresholds every rank selects from all reduced regions, and ends
//   nudge=true            reused thresholds follow the count, as in the published code
//   balancing=false       direct allgatherv: up to 2k log P words; also with a trigger above 4
//
// Restrictions: none; P = 1 selects and sends nothing.
// Memory: a rank holds its selection, the window of sums of its region, and its part of the result.
//
// hierarchical_oktopk is the same for m nodes of g ranks, with all rails (collectives/over_rails.hpp).
// Rail j, the ranks j of all nodes, has m of the P regions, which follow one another, so each
// exchange has two levels: inside a node, rank j receives and sums what its rail has; along the rail,
// each node receives its region. The result is gathered along the rails, and then inside the nodes.
// The result and the contributions are the same as with oktopk. A rank sends and receives as many words
// as with oktopk, up to 2k (g - 1)/g more. Between nodes go the sums of a node: where its ranks select
// the same, g times fewer words. (g - 1) + (m - 1) messages take the place of P - 1.
// Where the last node is smaller, there are as many rails as it has ranks, and the other ranks hold
// no region.
//
// Worked example: P = 4, k = 1000, all ranks balanced: 3 messages of 250 entries (1500 words) in
// split_and_reduce; 2 messages and 3 words for the sizes; 2 messages and 1500 words for the
// allgatherv: 7 α + 3003 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

// Both are without a sparsifier.
[[nodiscard]] SchemeInfo oktopk_scheme();
[[nodiscard]] SchemeInfo hierarchical_oktopk_scheme();

}  // namespace thinwire::algorithms
