// exdyna: each rank selects in a partition of its own, by a threshold that follows the count
// (ExDyna: Yoon, Oh, 2024, Algorithms 2 to 5).
//
// Partitions (Algorithm 2): the n components are cut into blocks of a multiple of 32, and each
// partition is a run of blocks, as many as the others give or take one; what blocks leave over is
// in the last partition. There are `blocks` blocks, or 4 P where that is more (ours: with fewer
// than 4 a partition there is nothing to move, and beyond `blocks` ranks partitions would be
// empty). Also ours, for n that are small beside that: where the rounding to 32 would leave over
// more than half a partition, a block is n/blocks components, and there are as many as fit.
// Allocation (Algorithm 3): in iteration t rank r has partition (t + r) mod P. From the counts of
// the last iteration: of two neighbours of which one selected more than `imbalance` times the mean
// and the other less than a 1/imbalance of it, the first gives one block to the other, unless that
// leaves it fewer than blocks/4P. Counts are corrected by an average block's as blocks move. A
// partition that is near the mean passes nothing on: where density falls steadily over the space,
// moving soon comes to a halt and the traffic ratio f (Equation 5) stays high.
// Selection (Algorithm 4): what reaches the threshold in the own partition.
// Threshold (Algorithm 5): by e = selected by all / k, it is multiplied by 1 + γ where e > β, by
// 1 + γ/4 where e > 1/β, else by 1 - γ; β is `tolerance`, γ is `step`. As it rises in the whole
// band, it comes to rest where e crosses 1/β: at 0.91 k, not at k.
// Start: `threshold`, or, ours, the k-th largest magnitude of each rank's first accumulator, which
// stands for a training that is under way; thresholds then differ among ranks and are scaled alike.
// The published code starts at 1/(2 sqrt(k)).
//
// k is the number that all ranks select together. Work: compared, the components of the own
// partition; moving blocks costs P steps and is not counted, nor is the warm start.
// Memory: P + 1 numbers for the partitions, held once for all ranks.
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

/// Blocks of equally many coordinates, of which partitions are made.
struct BlockGrid {
  std::int64_t size = 1;  ///< components of a block
  std::int64_t count = 0;

  friend bool operator==(const BlockGrid&, const BlockGrid&) = default;
};

/// The blocks of n components: `wanted` of them where P and n allow that.
[[nodiscard]] BlockGrid exdyna_blocks(std::int64_t n, std::int64_t wanted, int ranks);
/// Algorithm 2: the block with which each partition begins, and the end of the last one.
[[nodiscard]] std::vector<std::int64_t> exdyna_partition(std::int64_t blocks, int ranks);
/// The partition of a rank (Algorithm 3, line 29).
[[nodiscard]] std::size_t exdyna_allocation(int ranks, int rank, int iteration);
/// Counts of ranks as counts of partitions (Algorithm 3, lines 3-6).
[[nodiscard]] std::vector<double> exdyna_by_partition(std::span<const std::int64_t> counts,
                                                      int iteration);

/// When and by how much partitions exchange blocks.
struct Rebalancing {
  double imbalance = 1.05;      ///< α
  std::int64_t min_blocks = 1;  ///< of a partition that gives one
  double share = 0;             ///< of all that was selected, in a block on average
};
/// Algorithm 3, lines 7-28: partitions after blocks have moved. `selected` is by partition.
[[nodiscard]] std::vector<std::int64_t> exdyna_rebalance(std::vector<std::int64_t> partitions,
                                                         std::vector<double> selected,
                                                         const Rebalancing& how);
/// Algorithm 5, lines 1-7: by how much the threshold is multiplied.
[[nodiscard]] double exdyna_scaling(std::int64_t selected, std::int64_t wanted, double tolerance,
                                    double step);

[[nodiscard]] SparsifierInfo exdyna_sparsifier();

}  // namespace thinwire::algorithms
