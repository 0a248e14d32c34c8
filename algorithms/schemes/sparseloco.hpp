// SparseLoCo: the largest entries of every chunk, in few bits, gathered every H iterations (Sarfi,
// Thérien, Lidin, Belilovsky, 2025, arXiv:2508.15706). Of the paper only the abstract was at hand; the
// selection and the quantiser are those of CCLoco, the name under which its code was published first
// (chunked top-k; TopKCompressor). Figures are from the authors' descriptions of their trainings.
//
// Schedule: bucket_topk with chunks of 4096 selects; the values are put into 2^bits bins around their
// mean (sim/core/gradient/packed_sparse.hpp); an allgather of levels, indexes and codes; each rank
// adds the P vectors. The H local steps are a setting of the training, `workload.local_steps`.
// An index counts within its chunk, so that it takes 12 bits with chunks of 4096. A chunk sends as
// many entries as its share of k: where the accumulator holds fewer, zeros, as the published code
// does. With another sparsifier indexes take 32 bits.
// Error feedback keeps what rounding changed, too. Left out: the decay of the residual; levels of
// each tensor (ours: of the whole gradient); the chunks of 64 x 64 of a matrix (ours: of
// consecutive components); the published denser code for indexes, of which no description was read.
//
// Cost with L = 2^bits + ceil(k (index bits + bits)/32): ceil(log P) α + (P-1) L β; exact at any P.
// Work: at a device's prices, reading all components (bucket_topk), reducing k values to few bits,
// restoring those of all ranks, and adding them.
// Values: statistical gradients have none, and the same messages and times.
// Restrictions: none. Memory: the selections, and one sum for all ranks.
//
// Worked example: P = 8, n = 409,600, k = 6,400 (64 of 4096): 14 bits an entry, 2,800 words and 4 of
// levels; 3 α + 7 · 2,804 β. Dense values and indexes would be 12,800 words.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Without a sparsifier.
[[nodiscard]] SchemeInfo sparseloco_scheme();

}  // namespace thinwire::algorithms
