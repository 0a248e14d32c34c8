// The schemes that share indexes: all indexes that any rank selected are gathered, and then all
// ranks add their values there (Yoon and Oh, ExDyna, 2024, Algorithm 1).
//
//   exdyna          each rank selects in a partition of its own, so that no index occurs twice
//   micro           the same with partitions that never change
//   deft            the same with layers that one rank deals out to all
//   topk_allreduce  exact top-k of each rank: the union grows up to P k (gradient build-up)
//   hard_threshold, sidco  the same with those thresholds
//
// Schedule: with deft, a broadcast of which layers are whose (phase `allocation`); sizes (allgather
// of one number), unless the sparsifier selects the same number on every rank (exact_topk, as in the
// published TopKReducer); allgather of the indexes, one word each, padded to the largest selection
// (`padded`, which NCCL's allgather requires); union of the indexes; Rabenseifner's allreduce of the
// values there, dense.
// Cost with the largest selection's size m and the union's size K: (log P) α + m (P-1) β for
// the indexes, 2 log P α + 2K (P-1)/P β for the values; the paper omits the sizes, ceil(log P) α +
// (P-1) β. K lies between m and the sum of all selections; with exdyna it equals that sum, so the
// cost is exact at powers of two. With m = k'/P nothing is padded (Equations 3 to 5).
// Work: at a device's prices, each rank sorts all gathered indexes and drops duplicates; indexes of
// disjoint parts it only copies. Then as shared_values.hpp.
// Restrictions: none. Memory: the indexes, and the values of the union at each rank.
//
// Worked example: exdyna, P = 4, 250 indexes each: 2 α + 3 β for the sizes, 2 α + 750 β for the
// indexes, 4 α + 1500 β for the 1000 values.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// A scheme that shares indexes, by name, without a sparsifier.
[[nodiscard]] SchemeInfo shared_indexes_scheme(std::string name);

/// Allgather traffic relative to that without padding, f(t) of Equation 5, when `ranks` ranks
/// select at most `most` each and `total` together; 1 if nothing was selected.
[[nodiscard]] double padding_factor(int ranks, std::int64_t most, std::int64_t total);
/// The number of elements padded by all ranks: P times the sum of m - k_i (Equations 3 and 4).
[[nodiscard]] std::int64_t padded_elements(int ranks, std::int64_t most, std::int64_t total);

}  // namespace thinwire::algorithms
