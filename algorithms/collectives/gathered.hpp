// What ranks do with all that an allgather brought. Every rank holds the same then, so the
// simulator does it once.
#pragma once

#include "sim/gradient/concatenation.hpp"
#include "sim/gradient/numbers.hpp"
#include "sim/gradient/shared_work.hpp"
#include "sim/gradient/sparse_vector.hpp"

namespace thinwire {

/// The sum of sparse vectors.
[[nodiscard]] SparseVector sum_of_gathered(const Concatenation& gathered, SharedWork& shared);
/// Sparse vectors whose coordinates follow one another from rank to rank, as one.
[[nodiscard]] SparseVector concatenation_of_gathered(const Concatenation& gathered,
                                                     SharedWork& shared);
/// Lists of numbers one after another, by rank.
[[nodiscard]] Numbers numbers_of_gathered(const Concatenation& gathered, SharedWork& shared);

}  // namespace thinwire
