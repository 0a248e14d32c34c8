// exdyna: each rank selects in a partition of its own, with a threshold that is controlled by the
// count (ExDyna: Yoon, Oh, 2024, Algorithms 2 to 5).
//
// Partitions (Algorithm 2): the n components are cut into blocks of a multiple of 32, and each
// partition is a run of blocks; the numbers of blocks differ by at most one, and the last partition
// includes the components after the last block. There are `blocks` blocks, or 4 P if that is more
// (ours: with fewer than 4 per partition there is nothing to move, and beyond `blocks` ranks
// partitions would be empty). Also ours, for small n: if the rounding to 32 left over more than
// half a partition, a block is n/blocks components, and there are as many blocks as fit.
//
// Allocation (Algorithm 3): in iteration t rank r has partition (t + r) mod P. Blocks move
// according to the counts of the last iteration: when one of two neighbours selected more than
// `imbalance` times the mean and the other less than 1/imbalance of it, the first gives `blk_move`
// blocks to the other (published: 1), unless that leaves it fewer than `min_blk` (published: a
// quarter of the mean, blocks/4P). Each move corrects the counts by the count of average blocks. With
// blk_move = 0 partitions are static, the coarse-grained baseline of Figure 9. A partition near the
// mean passes nothing on, but its count scatters: where the density falls steadily over the space,
// the traffic ratio f (Equation 5) falls for thousands of iterations.
//
// Selection (Algorithm 4): the entries of the own partition that reach the threshold.
//
// Threshold (Algorithm 5): with e = selected by all / k, it is multiplied by 1 + γ if e > β, by 1 +
// γ/4 if e > 1/β, else by 1 - γ; β is `tolerance`, γ is `step`. Since it rises within the whole
// band, the equilibrium is at e = 1/β: at 0.91 k, not at k.
//
// Start: `threshold`, or, ours, the k-th largest magnitude of each rank's first accumulator, which
// represents a training in progress; thresholds then differ among ranks but are scaled alike. The
// published code starts at 1/(2 sqrt(k)). With `settled`, runs begin with the partitions and the
// scale of the threshold that a training arrives at: exdyna_settling.hpp.
//
// k is the number that all ranks select together.
// Work: the components of the own partition are compared; moving blocks costs P steps and is not
// counted, nor is the warm start.
// Memory: P + 1 numbers for the partitions, shared by all ranks.
//
// Example: P = 2, n = 256, 8 blocks of 32: partitions of 4 and 4 blocks. Iteration 1: rank 0 has
// partition 1 and selects 1, rank 1 has partition 0 and selects 15. The mean is 8, partition 0 is
// above 8.4 and partition 1 below 7.6: one block moves to partition 1, which begins at component 96
// in iteration 2, when rank 0 has partition 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// The blocks, of equally many coordinates, that make up the partitions.
struct BlockGrid {
  std::int64_t size = 1;  ///< components of a block
  std::int64_t count = 0;

  friend bool operator==(const BlockGrid&, const BlockGrid&) = default;
};

/// The blocks of n components: `wanted` of them if P and n allow it.
[[nodiscard]] BlockGrid exdyna_blocks(std::int64_t n, std::int64_t wanted, int ranks);
/// Algorithm 2: the first block of each partition, and the end of the last one.
[[nodiscard]] std::vector<std::int64_t> exdyna_partition(std::int64_t blocks, int ranks);
/// The partition of a rank (Algorithm 3, line 29).
[[nodiscard]] std::size_t exdyna_allocation(int ranks, int rank, int iteration);
/// Rearranges the counts of ranks by partition (Algorithm 3, lines 3-6).
[[nodiscard]] std::vector<double> exdyna_by_partition(std::span<const std::int64_t> counts,
                                                      int iteration);

/// When partitions exchange blocks, and how many.
struct Rebalancing {
  double imbalance = 1.05;    ///< α
  std::int64_t blk_move = 1;  ///< blocks that move at once
  std::int64_t min_blk = 1;   ///< left in a partition that gives some
  double share = 0;           ///< of the selection, in an average block
};
/// As the options say.
[[nodiscard]] Rebalancing exdyna_rebalancing(const SchemeSetup& setup, const BlockGrid& grid);
/// The option `threshold`, or by default the k-th largest magnitude of the accumulator; if that is
/// 0 the least one above 0, since 0 could not be scaled. 0 if all values are 0.
[[nodiscard]] double exdyna_first_threshold(const SchemeSetup& setup,
                                            const SparseVector& accumulated);
/// Algorithm 3, lines 7-28: the partitions after blocks have moved. `selected` is by partition.
[[nodiscard]] std::vector<std::int64_t> exdyna_rebalance(std::vector<std::int64_t> partitions,
                                                         std::vector<double> selected,
                                                         const Rebalancing& how);
/// Algorithm 5, lines 1-7: the factor by which the threshold changes.
[[nodiscard]] double exdyna_scaling(std::int64_t selected, std::int64_t wanted, double tolerance,
                                    double step);

[[nodiscard]] SparsifierInfo exdyna_sparsifier();

}  // namespace thinwire::algorithms
