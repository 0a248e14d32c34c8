// hard_threshold: one threshold for the whole training (Sahu et al., NeurIPS 2021; ExDyna, section
// III). All entries that reach it are selected.
//
// It is tuned before training and given by `threshold`; otherwise each rank takes the exact k-th
// largest magnitude of its first accumulator and keeps it, which represents that tuning. So the
// count is k at first and then follows the scale of the accumulators.
//
// With `published` it is 1/(2 sqrt(k)), as in the code published with ExDyna (infinite for k = 0).
// That is in the units of the gradients, so it says something only about gradients whose scale is
// known: gradients of a trace. Synthetic ones and profiles have a scale of their own.
//
// Work: n compared. The tuning is not part of an iteration and costs nothing here.
//
// Example: k = 2, first accumulator {1: 3, 4: -5, 9: 1}: the threshold stays 3.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// 1/(2 sqrt(k)); infinite for k = 0.
[[nodiscard]] double published_threshold(std::int64_t k);

[[nodiscard]] SparsifierInfo hard_threshold_sparsifier();

}  // namespace thinwire::algorithms
