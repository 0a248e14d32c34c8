// micro: each rank selects in a partition of its own, with a threshold that is controlled by the
// count (MiCRO: Yoon and Oh, HiPC 2023, arXiv:2310.00967). Of the paper only the abstract was at hand:
// the algorithm is that of its published code (kljp/micro, gradient_reducers.py, MicroReducer).
//
// It is exdyna (exdyna.hpp) without blocks that move: the n components are cut into P partitions as
// equal as possible, once, and in iteration t rank r has partition (t + r) mod P. The threshold is
// multiplied by 1 + γ, 1 + γ/4 or 1 - γ after each iteration, with the same bounds. The published
// code starts at 1/(2 sqrt(k)); the start and `settled` are ours, as with exdyna. Where a rank
// selects nothing the published code sends one index all the same, so that no list is empty; ours
// sends none.
//
// k is the number that all ranks select together.
// Work: the components of the own partition are compared. Memory: none.
//
// Example: P = 3, n = 10: partitions of 4, 3 and 3 components. In iteration 1 rank 0 has the one that
// begins at component 4.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo micro_sparsifier();

}  // namespace thinwire::algorithms
