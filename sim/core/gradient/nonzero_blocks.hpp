// Blocks of consecutive coordinates in which a sparse vector has entries (OmniReduce, SIGCOMM 2021).
// In the statistical model, the probability that a block has one follows from the coordinates in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

/// Whether the vector has an entry in each of the blocks of a space. Where few ranks stand for all,
/// block i stands for block like[i] of another rank, and has the probability of that.
[[nodiscard]] std::vector<bool> nonzero_blocks(const SparseVector& vector, const BlockSize& size,
                                               std::span<const std::uint32_t> like = {});
/// The entries in increasing `blocks`, all of which have some. They are among `of` blocks that ranks
/// send at once, and whose entries are added.
[[nodiscard]] SparseVector in_blocks(const SparseVector& vector, const BlockSize& size,
                                     std::span<const std::uint32_t> blocks, std::uint32_t of);
/// The vector of sums of different blocks.
[[nodiscard]] SparseVector joined_blocks(std::span<const SparseVector> parts);

}  // namespace thinwire::inline gradient
