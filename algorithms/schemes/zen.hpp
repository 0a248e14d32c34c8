// zen: Balanced Parallelism of ZEN (Wang et al., OSDI 2025; arXiv 2309.13254): the servers of a push
// and a pull are the ranks themselves, and a hash of the index says which one sums it, so that each
// gets an equal share wherever the selected entries lie.
//
// Schedule:
//   hashing   the selected indexes are hashed into P parts (Algorithm 1: h0, the same on all ranks,
//             chooses the part; the others only find a place in it without losing any)
//   push      part i to rank i by direct exchange, destinations rotated, as COO; rank i sums it
//   encoding  a bit for each index that hashes to the rank, whether it is in the sum (Algorithm 2)
//   pull      bitmap and values from each rank to all others, by direct exchange
//   decoding  the bits are turned into indexes, and the values scattered
// Nothing is lost: the sum and the contributions are those of topka.
//
// Cost: with P ranks, K entries in the sum (the paper's γ k, between k and P k):
//   push      (P-1) α + 2k (P-1)/P β
//   pull      (P-1) α + (K + n/32) (P-1)/P β
// Equation 1 has the words of both with COO, 2 (γ + 1) k (P-1)/P; the bitmap (section 3.3.2) makes
// 2K into K + n/32. The paper counts no latency. Its pull is that of servers which each send to all
// workers, so it takes P-1 messages too. Theorem 2: parts are even up to 1 + Θ(sqrt(P log P / k)).
// Ours: for a run, a part of m entries on average has at most m + 8 sqrt(m) + 8; what this and the
// whole words of bitmaps add is in the added terms.
//
// Local work (a training on a device): Algorithm 1 writes k entries to hashed places (`hash`) and
// compacts memory of 2.2 k of them (r1 + r2, section 5.2), which counts as sparsification; encoding
// reads the indexes of the part, decoding tests n bits (`compare`) and scatters K values.
//
// Not modelled: sums inside machines before it (ReduceScatter over NVLink in the paper), and the
// paper's other scheme, Hierarchical Centralization, which it never chose: ssar_recursive_double.
// Restrictions: none. Memory: selections, the sum of each part, one result for all ranks.
//
// Worked example: P = 4, n = 3200, k = 100, every rank selects the same: 3 messages of about 25
// entries (150 words) and 3 of 25 values and 25 words of bitmap (150 words): 6 α + about 300 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo zen_scheme();

}  // namespace thinwire::algorithms
