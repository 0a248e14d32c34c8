// SparCML's allreduces of sparse streams (Renggli et al., SC 2019, section 5.3), and topkdsa, the
// name of its dynamic one in Ok-Topk (PPoPP 2022, Table 1). A sparse stream is COO as long as that
// is shorter than dense; if the lengths of two summands exceed δ, half of their part of the space,
// the sum is dense.
//
//   ssar_recursive_double  exchange and sum with rank ^ 1, 2, 4 ...
//   ring_sparse            reduce-scatter and allgather around a ring, pieces as streams
//   ssar_split_allgather   region i of every selection to rank i by direct exchange, which sums it;
//                          then an allgather of the regions as streams
//   dsar_split_allgather   the same, but the regions are dense in the second stage, with `bits`
//                          quantised by QSGD (section 6): n bits/32 words, and a scale of one word
//                          per bucket of 1024 components
//   topkdsa                the same after an exchange of sizes: all regions sparse, or all dense if
//                          the result has more than `dense_above` n components
//
// Costs (β per word; the paper's β_s per pair is 2β, its β_d is β):
//   ssar_recursive_double  log P α + [2k log P, 2k (P-1)] β    full overlap .. nothing in common
//   ring_sparse            2 (P-1) α + [4k (P-1)/P, 2n (P-1)/P] β
//   ssar_split_allgather   (P-1 + log P) α + [4k (P-1)/P, 2kP] β
//   dsar_split_allgather   (P-1 + log P) α + [n (P-1)/P, 2k + n (P-1)/P] β
//   topkdsa                (P + 2 log P) α + [4k (P-1)/P, (2k + n) (P-1)/P] β
// The upper ends assume that selections are spread evenly over the regions. If they are not, up to
// 2k (P-1) words arrive at one rank in the split, and the pieces of the allgather are uneven: the
// upper end of the added terms. Lower ends hold for any selections of k entries: with s
// entries in their own region and a result of K >= s, k, all ranks together receive Pk - s pairs in
// the split and (P-1) K in the allgather, 2k (P-1) at least; dense streams have n (P-1)/P words at
// least.
//
// Any P: recursive doubling folds in (2 more messages), allgathers are disseminations. The
// published code collapses to a power of two, and does not rotate the destinations of the split,
// like `rotation=false`.
// Memory: selections; the sum of each piece once for all ranks that compute it; a shared result.
//
// Worked example: ssar_recursive_double, P = 8, k = 1000, no common index: messages of 1000, 2000
// and 4000 pairs: 3 α + 14,000 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

// All are without a sparsifier.
[[nodiscard]] SchemeInfo ssar_recursive_double_scheme();
[[nodiscard]] SchemeInfo ring_sparse_scheme();
[[nodiscard]] SchemeInfo ssar_split_allgather_scheme();
[[nodiscard]] SchemeInfo dsar_split_allgather_scheme();
[[nodiscard]] SchemeInfo topkdsa_scheme();

}  // namespace thinwire::algorithms
