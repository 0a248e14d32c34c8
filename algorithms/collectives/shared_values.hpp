// An allreduce of values at indexes that all ranks know.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The sum over all ranks of `accumulated` at the coordinates of `indexes`, which are the same on
/// all ranks (their values are ignored). This is Rabenseifner's allreduce of K values of one word,
/// where K is the number of coordinates: 2 log P α + 2K (P-1)/P β + K (P-1)/P γ.
/// At a device's prices, a rank first reads its K values, and in the end writes the sums to a vector
/// of zeros: 2K random accesses and one pass over n.
[[nodiscard]] Task<Reduced> allreduce_values_at(Communicator& comm, SparseVector indexes,
                                                SparseVector accumulated, const SchemeSetup& setup);

}  // namespace thinwire::algorithms
