// Allreduce over two complementary binary trees. It has the bandwidth of a ring and the latency of
// a tree.
//
// Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
// (Parallel Computing 35, 2009), section 2; NCCL since 2.4 (Jeaugey, "Massively scale your deep
// learning training with NCCL 2.4", 2019).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The position of a rank in one of the two trees.
///
/// The positions 1 .. P are numbered in order. If 2^h is the lowest set bit of a position, one
/// child is 2^(h-1) before it. The other child is 2^(h-1) after it, nearer if the positions end
/// before that, or absent if no position follows. Odd positions are therefore leaves, and even
/// positions are inner nodes. In tree 0, rank r is at position r + 1. In tree 1, the ranks at even
/// positions of tree 0 are at odd positions. At even P, tree 1 is mirrored: rank r is at position
/// P - r, which has the other parity. At odd P, tree 1 is shifted by one, and rank 0 is a leaf in
/// both trees. No rank is therefore an inner node in both trees. (NCCL puts rank 0 above such a
/// tree of P - 1 ranks. The result has one level more than the trees here unless P is a power of
/// two, and at odd P one rank is an inner node in both trees.)
struct TreePlace {
  int level = 0;  ///< number of edges to the root
  std::optional<Rank> parent = {};
  std::vector<Rank> children = {};  ///< the child with the deeper subtree first
};
[[nodiscard]] TreePlace place_in_tree(Rank rank, int size, int tree);

/// The number of edges from the root to the deepest leaf, in each of the two trees: floor(log P).
[[nodiscard]] int double_tree_depth(int size);

/// C, the number of chunks in each half of a value of `words` words. `chunk_words` is the largest
/// size of a chunk. If it is 0, the size is chosen as in NCCL: it begins at 131072 (512 KiB) and is
/// halved, down to 8192, as long as there are fewer than 8 chunks per level of a tree.
[[nodiscard]] int double_tree_chunks(std::int64_t words, int size, std::int64_t chunk_words);

/// The cost of `allreduce_double_tree`, as a number of consecutive messages of one chunk. `low` is
/// proven, and `high` was found empirically: see the comment on allreduce_double_tree().
struct DoubleTreeSteps {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] DoubleTreeSteps double_tree_steps(int size, int chunks);

/// In each tree, one half of the value is summed towards the root, and the sum is sent back down,
/// chunk by chunk. Values must have the same length on every rank, so gradients must be dense.
///
/// Schedule: in round t, a rank at level l of a tree of depth D does two things. It receives chunk
/// t - (D - l) from its children, adds its own and sends the sum to its parent. It also receives
/// chunk t - (D + l) from its parent and sends it to its children. All chunks that it receives were
/// sent in the previous round. Rounds only define an order, and no rank waits for the end of a
/// round: the receive of the next chunk of a neighbour is always posted, and a rank waits for its
/// sends in the next round. More than one chunk in flight from one neighbour would change nothing
/// on the α-β machine. Where flows share a port, such chunks would delay each other: the time on
/// SMPI would be up to twice as long.
///
/// Cost, with T = α + cβ for a chunk of c words and C chunks per half: between max(b C, S(C) +
/// S(1)) T and (b (C-1) + 2 S(1) + 2 D) T, where D = floor(log P) and b = min(P, 4).
///   - b C: from P = 4 on there is an inner node with two children and a parent. For each chunk
///     number its ports carry four messages in each direction: two up and one down in its own tree,
///     and one in the other tree, where it is a leaf.
///   - S(C): the earliest step at which the root can have the sum of the last chunk. A leaf sends
///     its last chunk at (C-1) T at the earliest. A node has the sum of its last chunk at least T
///     after the later of its two children has it, at least 2 T after the earlier one, and not
///     before 2 C T, since each message occupies the node's port. If both subtrees are full and
///     have the same height, this adds 2 T per level, so S(1) is 2 D or 2 D - 1. The term S(1) is
///     added for the way of the last sum down to the leaves, which takes as long as the way up.
///   - The upper end consists of the time of the first chunk up and down the trees, b T for each
///     further chunk, and 2 T per level (one on the way up and one on the way down) for messages of
///     the other tree that share a port. It is not proven; the tests check it for all P up to 130
///     and up to 30 chunks.
/// If the chunks differ in length by a word, the times T_min and T_max of the shortest and of the
/// longest chunk replace T. For values of n words, the cost is thus about 2nβ if n is large, and
/// about 4 log P α if n is small. An inner node sums two chunks per round; this time (γ) is hidden
/// if it is less than 4 T.
/// Memory: references to 2 C chunks per rank; the sums are shared.
[[nodiscard]] Task<Message> allreduce_double_tree(Communicator& comm, Message mine,
                                                  const Reduction& reduction,
                                                  std::int64_t chunk_words);

}  // namespace thinwire::algorithms
