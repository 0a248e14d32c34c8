// Reductions of the result of an allgather. All ranks hold the same messages, so the simulator
// computes each result once.
#pragma once

#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/gradient/stream.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The sum of the gathered sparse vectors.
[[nodiscard]] SparseVector sum_of_gathered(const Concatenation& gathered, SharedWork& shared);
/// Joins sparse vectors whose coordinates follow one another from rank to rank.
[[nodiscard]] SparseVector concatenation_of_gathered(const Concatenation& gathered,
                                                     SharedWork& shared);
/// Joins lists of numbers in the order of the ranks.
[[nodiscard]] Numbers numbers_of_gathered(const Concatenation& gathered, SharedWork& shared);

/// The sum of dense blocks of the same coordinates.
[[nodiscard]] DenseBlock sum_of_gathered_blocks(const Concatenation& gathered, SharedWork& shared);
/// Joins the P pieces of a vector, of which piece i comes from rank i, into one stream. Each piece
/// is dense or sparse. The stream is dense if any of the pieces is.
[[nodiscard]] Stream stream_of_gathered(const Concatenation& gathered, const Reduction& reduction);

/// Gathers one number from each rank by an allgather, which costs ceil(log P) α + (P-1) β.
[[nodiscard]] Task<Numbers> allgather_sizes(Communicator& comm, std::int64_t mine,
                                            SharedWork& shared);

}  // namespace thinwire::algorithms
