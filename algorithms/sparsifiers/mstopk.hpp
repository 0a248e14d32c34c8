// mstopk: a threshold found by bisection between the mean and the largest magnitude, and exactly k
// entries by it (MSTopk: Shi et al., "Towards scalable distributed training of deep learning on
// public cloud clusters", MLSys 2021, Algorithm 1; the approximate top-k that DRAGONN, ICML 2022,
// section 6, compares itself with).
//
//   threshold(r) = mean + r (largest - mean), with r bisected `samplings` times in [0, 1]
//
// Two thresholds are kept: `upper`, that selects most of those that select at most k, and `lower`,
// that selects fewest of those that select more. All entries that reach `upper` are selected, and of
// the entries between the two a run of consecutive ones, from a random start, that makes up k.
// Mean and largest are of the magnitudes of all n components. Coordinates that are not held are
// zeros: they count for the mean and are never selected, so that fewer than k are selected where
// fewer are held. In the statistical model, which does not tell entries of one magnitude apart, the
// k largest are selected.
//
// Work: 2n scanned (mean and largest), n compared in each sampling, 2n prefix-summed (both sets).
//
// Example: magnitudes 1 ... 10, k = 3, 4 samplings: mean 5.5, largest 10; r = 1/2 gives 7.75 and 3
// entries, so `upper` selects {8, 9, 10} and nothing has to be added.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// The two thresholds of the search.
struct BisectedThresholds {
  float upper;  ///< selects at most k; infinity if none of those that were tried does
  float lower;  ///< selects more than k; 0 if none of those that were tried does
};
/// Bisects `samplings` times for `k` carried coordinates.
[[nodiscard]] BisectedThresholds bisected_thresholds(const SparseVector& accumulated,
                                                     const GradientSpace& space, std::int64_t k,
                                                     std::int64_t samplings);
[[nodiscard]] SparsifierInfo mstopk_sparsifier();

}  // namespace thinwire::algorithms
