// An allreduce of the values that all ranks have at indexes which all of them know.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The sum over all ranks of `accumulated` at the coordinates of `indexes` (whose values do not
/// matter, and which are the same on all ranks). Rabenseifner's allreduce of K values, one word
/// each: 2 log P α + 2K (P-1)/P β, K (P-1)/P γ.
[[nodiscard]] Task<Reduced> allreduce_values_at(Communicator& comm, SparseVector indexes,
                                                SparseVector accumulated, const SchemeSetup& setup);

}  // namespace thinwire::algorithms
