// hard_threshold: one threshold for the whole training (Sahu et al., NeurIPS 2021; ExDyna, section
// III). What reaches it is selected.
//
// It is tuned before training. `threshold` gives it; without, each rank takes the exact k-th
// largest magnitude of the first accumulator that it sees and keeps it for ever, which stands for
// that tuning. So the count is k at first and then follows the scale of the accumulators.
//
// Work: compared n. The tuning is not part of an iteration and costs nothing here.
//
// Example: k = 2, first accumulator {1: 3, 4: -5, 9: 1}: the threshold is 3, for ever.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo hard_threshold_sparsifier();

}  // namespace thinwire::algorithms
