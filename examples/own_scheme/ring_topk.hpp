// ring_topk: a ring whose pieces do not grow. An example of a scheme that is not Thinwire's.
//
// The ring of a dense allreduce carries sparse gradients badly: on its way around, a piece collects
// the indexes of all ranks. Here who adds to a piece keeps the k/P largest entries of the sum, as
// gtopk does on its tree. What is dropped is lost to the sum, and stays with error feedback where
// nobody's index of it comes through.
//
// Schedule, P ranks and P regions of equally many components, piece i being the entries in region
// i:
//   reduce_scatter  P-1 steps; in step s = 1, 2 ... rank r sends piece r-s to rank r+1, takes piece
//                   r-s-1 from rank r-1, adds its own entries there and keeps the ceil(k/P) largest
//   allgather       P-1 steps around the ring: piece r starts at rank r, which has it complete
// Cost: 2 (P-1) α, and at most 4k (P-1)/P β, when all pieces are full, and k (P-1)/P γ. At least
// 2k (P-1)/P β: of k entries in P regions some region has k/P, and that piece goes around in the
// allgather. Above that come at most 4 words a step, for k/P is rounded up.
// Restrictions: none. Memory: a selection a rank, the result shared.
//
// Worked example: P = 8, k = 1000: pieces of 125 entries, 14 messages of at most 250 words:
// 14 α + 3500 β. Ok-Topk: up to 6k (P-1)/P = 5250 words, and an exact sum.
#pragma once

#include <thinwire/scheme.hpp>

[[nodiscard]] thinwire::algorithms::SchemeInfo ring_topk_scheme();
