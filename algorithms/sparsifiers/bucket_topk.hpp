// bucket_topk: the largest entries of every bucket of consecutive components (SparCML, SC 2019,
// sections 8.3 and 8.4: 2 to 16 of every 512).
//
// Bucket [first, last) gets the entries [first k/n, last k/n) of k, rounded down, so that all of
// them together select k, and every full bucket as many as the others within one. k of every 512 is
// a density of k/512. The lower coordinate wins a tie. Components that the accumulator does not hold
// are 0 and never selected: a bucket that holds fewer than its share sends fewer.
//
// Work: n scanned. A block of threads keeps its bucket in its own memory, and knows where its
// entries go, since every bucket sends a known number: there is no prefix sum.
// Restrictions: a bucket holds whole granules; a statistical gradient has no entries to compare.
//
// Example: bucket = 4, n = 8, k = 2, accumulator {0: 1, 1: -5, 2: 3, 6: 2}: {1: -5, 6: 2}.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo bucket_topk_sparsifier();

}  // namespace thinwire::algorithms
