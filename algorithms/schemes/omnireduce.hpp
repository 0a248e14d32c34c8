// omnireduce: OmniReduce (Fei et al., SIGCOMM 2021) with an aggregator beside each worker: the gradient
// travels in blocks of consecutive components, and only blocks that hold a non-zero value do.
//
// Sources: the published code (sands-lab/omnireduce, worker.cpp and aggregator.cpp of the RDMA
// version), its documentation of the experiments, and what ZEN (OSDI 2025, sections 2.4 and 3.3) says
// of it. The paper itself could not be read for this. What is ours is marked so.
//
// Rank i aggregates every P-th block, beginning with block i (`contiguous`: an equal part of
// consecutive blocks, as ZEN describes it). An aggregator has `streams` streams (slots in the code);
// the blocks of an aggregator belong to them in turn, and each stream is at one block at a time.
//   round 1    every worker sends the first block of each stream, zero or not, and with it the number
//              of its next non-zero block of that stream
//   response   the aggregator sends the sum of the block to all workers, and asks for the smallest of
//              the next numbers
//   round 2 .. the workers whose next block it is send it, with the number of the one after it
// until no worker has another block of any stream.
// The streams of an aggregator go on together, all blocks of a round in one message (ours: in the
// code each block, or a few, is a message, and streams do not wait for one another; there the time of
// a message is hidden by the others in flight, here it is paid once a round).
//
// A block counts 2 words besides its values: its number (the code has the slot's, in the immediate
// data of the message) and the next one's. Blocks are rounded up to whole granules.
//
// Cost, with D words in non-zero blocks on a rank and U in those of all ranks together:
//   (D + U) (P-1)/P β + 2 (P-1) α a round; k <= D <= block k, D <= U <= P D, both at most n
// The formula has these ends. Added: the header of each block, the first blocks that are zero, and
// blocks that are not spread evenly over aggregators. The sum is that of topka.
//
// Local work on a device: one pass over the gradient to find the non-zero blocks.
// Not modelled: aggregators on machines of their own (then a rank sends D and receives U at once), the
// switch, and sparse blocks of keys and values.
// Restrictions: none.
// Memory: what each rank knows of its non-zero blocks; a result for all ranks.
//
// Worked example: P = 2, n = 1024, block = 256, 4 blocks, all of them not zero on both ranks: rank 0
// sends blocks 1 and 3 and receives 0 and 2, then the sums: 2 α + 2 · 2 · 258 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo omnireduce_scheme();

}  // namespace thinwire::algorithms
