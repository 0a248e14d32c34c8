// SparCML's allreduces of sparse streams (Renggli et al., SC 2019, section 5.3), and topkdsa, the
// name of its dynamic one in Ok-Topk (PPoPP 2022, Table 1). A stream is COO or dense, and has a
// word in front that says which. Streams of the static schemes (ssar), for results of up to δ
// components, stay sparse all along; streams of the dynamic schemes (dsar) become dense. δ = n isize/(c +
// isize) with isize bytes a value and c an index: n/2 here. Above it COO is longer than dense. As summing
// COO takes longer too, δ may be set lower (`delta`, a share of the components).
//
//   ssar_recursive_double  exchange and sum with rank ^ 1, 2, 4 ...
//   dsar_recursive_double  the same; a sum is dense if the lengths of its summands exceed δ
//   ring_sparse            reduce-scatter and allgather around a ring, pieces as streams; a sum is
//                          dense if the lengths of its summands exceed δ of the piece
//   ssar_split_allgather   region i of every selection to rank i by direct exchange, which sums it;
//                          then an allgather of the sparse regions
//   dsar_split_allgather   the same, but all regions are dense in the second stage, whose messages
//                          have no marker; with `bits` quantised by QSGD (section 6): n bits/32
//                          words, and a scale of one word per bucket of 1024 components
//   topkdsa                the same after an exchange of sizes: all regions sparse, or all dense if
//                          the result has more than `dense_above` n components; no markers
//
// Costs (β per word; the paper's β_s per pair is 2β, its β_d is β):
//   ssar_recursive_double  log P α + [2k log P, 2k (P-1)] β    full overlap .. nothing in common
//   dsar_recursive_double  the same, and at most n words a step
//   ring_sparse            2 (P-1) α + [4k (P-1)/P, 2n (P-1)/P] β
//   ssar_split_allgather   (P-1 + log P) α + [4k (P-1)/P, 2kP] β
//   dsar_split_allgather   (P-1 + log P) α + [n (P-1)/P, 2k + n (P-1)/P] β
//   topkdsa                (P + 2 log P) α + [4k (P-1)/P, (2k + n) (P-1)/P] β
// The upper ends assume that selections are spread evenly over the regions. If they are not, up to
// 2k (P-1) words arrive at one rank in the split, and the pieces of the allgather are uneven: the
// upper end of the added terms. Lower ends hold for any selections of k entries: with s
// entries in their own region and a result of K >= s, k, all ranks together receive Pk - s pairs in
// the split and (P-1) K in the allgather, 2k (P-1) at least; dense streams have n (P-1)/P words at
// least. Markers are added: a word a message, and one for each region of the allgather. So
// ssar_split_allgather is faster than dsar_split_allgather while the result has fewer than n/2
// components, and slower when it has more (section 8.1).
//
// With a device, quantising costs its price for the own region, and restoring for all regions.
//
// Any P: recursive doubling folds in (2 more messages), allgathers are disseminations. The
// published code collapses to a power of two, and does not rotate the destinations of the split,
// like `rotation=false`.
// Memory: selections; the sum of each piece once for all ranks that compute it; a shared result.
//
// Worked example: ssar_recursive_double, P = 8, k = 1000, no common index: messages of 1000, 2000
// and 4000 pairs, and a marker each: 3 α + 14,003 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

// All are without a sparsifier.
[[nodiscard]] SchemeInfo ssar_recursive_double_scheme();
[[nodiscard]] SchemeInfo dsar_recursive_double_scheme();
[[nodiscard]] SchemeInfo ring_sparse_scheme();
[[nodiscard]] SchemeInfo ssar_split_allgather_scheme();
[[nodiscard]] SchemeInfo dsar_split_allgather_scheme();
[[nodiscard]] SchemeInfo topkdsa_scheme();

}  // namespace thinwire::algorithms
