// Allreduce over two complementary binary trees: the bandwidth of a ring, the latency of a tree.
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
/// Positions 1 .. P are numbered in order: with 2^h the lowest set bit of a position, its children
/// are 2^(h-1) before it and, as far as there are positions, after it, so odd positions are leaves
/// and even ones inner nodes. In tree 0 rank r is at position r + 1. Tree 1 has odd positions where
/// tree 0 has even ones: it is mirrored at even P, where position P - r has the other parity, and
/// shifted by one at odd P, where rank 0 is a leaf in both. So no rank is an inner node in both
/// trees. (NCCL has rank 0 above such a tree of P - 1: one level more unless P is a power of two,
/// and at odd P one rank is an inner node in both.)
struct TreePlace {
  int level = 0;  ///< edges from the root
  std::optional<Rank> parent = {};
  std::vector<Rank> children = {};  ///< the one with the deeper subtree first
};
[[nodiscard]] TreePlace place_in_tree(Rank rank, int size, int tree);

/// The number of edges from the root to the lowest leaf of either tree: floor(log P).
[[nodiscard]] int double_tree_depth(int size);

/// C, the number of chunks in each half of a value of `words` words. `chunk_words` is the largest
/// size of a chunk. 0 stands for 131072 (512 KiB), halved, down to 8192, while there are fewer than
/// 8 chunks per level of a tree, after NCCL.
[[nodiscard]] int double_tree_chunks(std::int64_t words, int size, std::int64_t chunk_words);

/// The cost of `allreduce_double_tree` in consecutive messages of one chunk; `low` is proven and
/// `high` was found empirically. See there.
struct DoubleTreeSteps {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] DoubleTreeSteps double_tree_steps(int size, int chunks);

/// Each tree sums one half of the value towards its root and sends the sum back down, chunk by
/// chunk. Values must have the same length on every rank, so gradients must be dense.
///
/// Schedule: in round t a rank at level l of a tree of depth D takes chunk t - (D - l) from its
/// children, adds its own and sends it up, and takes chunk t - (D + l) from its parent and sends it
/// down: each was sent in the previous round. Rounds only define an order; no rank waits for the
/// end of one: the receive of a neighbour's next chunk is always posted, and a send is waited for
/// in the next round. More chunks of one neighbour in flight change nothing in the α-β machine, and
/// delay each other when flows share a port: up to twice the time on SMPI.
///
/// Cost, with T = α + cβ for a chunk of c words and C chunks per half: between max(b C, S(C) +
/// S(1)) T and (b (C-1) + 2 S(1) + 2 D) T, where D = floor(log P) and b = min(P, 4).
///   - b C: from P = 4 on there is an inner node with two children and a parent. For each chunk
///     number its ports carry four messages in each direction: two up and one down in its own tree,
///     and one in the other tree, where it is a leaf.
///   - S(C): the earliest step at which the root can have the last sum. A leaf sends its last chunk
///     at (C-1) T at the earliest; a node has its last sum no sooner than T after the later of its
///     children, 2 T after the earlier, and 2 C T with two children, since each message occupies
///     its port. If both subtrees are full and of one height, that is 2 T per level: S(1) is 2 D or
///     2 D - 1. S(1) once more is the way down of the last sum, which is the same in reverse.
///   - High: the first chunk's tree, b T for each further chunk, and two T per level, one on the way
///     up and one down, for messages of the other tree that share a port. There is no proof: the
///     tests hold it at all P up to 130 with up to 30 chunks.
/// T_min and T_max replace T when the chunks differ by a word. The cost is thus about 2nβ for large
/// n and about 4 log P α for small n. γ: two chunks per round for an inner node, hidden if less
/// than 4 T.
/// Memory: references to 2 C chunks per rank; the sums are shared.
[[nodiscard]] Task<Message> allreduce_double_tree(Communicator& comm, Message mine,
                                                  const Reduction& reduction,
                                                  std::int64_t chunk_words);

}  // namespace thinwire::algorithms
