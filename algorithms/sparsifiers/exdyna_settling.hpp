// The steady state of exdyna, found without a network.
//
// A training runs thousands of iterations, and blocks move one at a time: with VGG-16's profile and
// P = 16 the traffic ratio f (Equation 5) is 4.0 after 40 iterations, 2.4 after 1,500 and 1.9 after
// 3,000. So Algorithms 3 and 5 run alone first, on counts, until f stops falling.
//
// Counts. Up to 16 ranks are sampled. Each has its first threshold from iteration 1, and its
// accumulator from an iteration of its own; these are 16 iterations apart. That matters: a partition near the
// mean passes blocks on only because its count scatters, and it scatters mostly because a threshold
// lags behind its rank's magnitudes. The entries above the threshold are counted by block. From the
// samples' mean and deviations 256 replicates are made (the mean plus a normal combination of the
// deviations, which has their covariance); each rank in each iteration draws one. When the threshold
// has moved by more than 10% the blocks are counted anew, and in between all counts change by the
// same factor, interpolated in the logarithms of counts at thresholds 5% apart.
//
// Criterion. f is averaged over windows of at least 256 iterations, a whole number of cycles of the
// allocation each. The state has settled when no window has had a mean f 1% below the least one
// before it, nor moved the mean of ln(threshold) by more than 2γ, for 2,048 iterations, for two
// windows, and for half as many iterations as there were until then. The search is cut short after
// 20,000 iterations (the paper's trainings on CIFAR take 19,600), after 2^28/P (some ten seconds),
// and when the threshold has changed by more than a factor of e^8.
//
// Work of the simulator: O(P) per iteration, 256 times 16 additions per block for each count.
// Memory: 1 KiB per block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/sparsifiers/exdyna.hpp"

namespace thinwire::algorithms {

/// Partitions as numbers of blocks, and when they change.
struct PartitionControl {
  std::vector<std::int64_t> blocks;      ///< the first component of each
  std::vector<std::int64_t> partitions;  ///< the first block of each, and the end of the last one
  Rebalancing how;
};

/// The option `step`: by which share a threshold moves.
[[nodiscard]] OptionInfo step_option();
/// The option `settled`.
[[nodiscard]] OptionInfo settled_option(std::string help);
/// The partitions and the factor of every rank's first threshold once they have settled, with the
/// options `tolerance` and `step`. No iterations when the option `settled` is off or all
/// accumulators are 0.
[[nodiscard]] SettledState settle_partitions(const SchemeSetup& setup, const AccumulatorOf& of,
                                             PartitionControl control);
/// The same of exdyna's blocks.
[[nodiscard]] SettledState settle_exdyna(const SchemeSetup& setup, const AccumulatorOf& of);

}  // namespace thinwire::algorithms
