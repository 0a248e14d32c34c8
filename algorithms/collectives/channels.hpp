// Collectives in several channels at once, as NCCL does them. Each channel carries its share of the
// value over a ring or a pair of trees of its own. The channels enter and leave a node on different
// ranks, so that all NICs of a node work.
//
// Values must have the same length on every rank, so gradients must be dense. Ranks wait for
// whichever message comes first, so no channel waits for another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "algorithms/collectives/hierarchical.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// How NCCL writes data to a buffer that another rank reads. Of each `line` bytes on the wire,
/// `data` are data; the others are flags that tell the reader that the data is there. A message
/// takes `in_node` or `between_nodes`, and `per_word` for each word of its data, in addition to its
/// time on the network, until its receiver has it. A message of more than `slot` words takes `per_word`
/// for `slot` words alone, since it goes slot by slot. Beyond kRendezvous words on the wire a message
/// between nodes takes `rendezvous` more. `launch` is the time on each rank before the first message.
struct LineFormat {
  int line = 1;
  int data = 1;
  Seconds launch = {};
  Seconds in_node = {};
  Seconds between_nodes = {};
  Seconds per_word = {};
  Seconds rendezvous = {};
  std::int64_t slot = std::numeric_limits<std::int64_t>::max();

  static constexpr Words kRendezvous{512};  ///< 2 KiB, of libfabric on Slingshot

  /// The words on the wire of so many words of data.
  [[nodiscard]] Words wire(Words words) const {
    return Words((words.value() * line + data - 1) / data);
  }
  /// That a message of so many words of data takes in addition to its latency.
  [[nodiscard]] Seconds handling(double words) const {
    return per_word * std::min(words, static_cast<double>(slot));
  }
};

/// The rank of a node at which a channel enters it. Fewer channels than ranks are spread over the
/// node, so that ranks that share a NIC do not have two of them while other NICs have none.
[[nodiscard]] int entry_of(int channel, int channels, Nodes nodes);

/// The ring of a channel goes through the nodes in order. On nodes with even numbers it enters at
/// rank `entry` of the node (modulo its ranks), and visits the ranks in ascending order; on the
/// others it enters at the rank before, which is the one where it left the node before, and visits
/// them in descending order. It thus leaves every node on the rail on which it enters the next one
/// (NCCL's alternating rings: connect.cc, "Alternate rings to avoid crossing rails").
class ChannelRing {
 public:
  ChannelRing(Nodes nodes, int entry) : nodes_(nodes), entry_(entry) {}

  /// The position of a rank on the ring, from 0, and its inverse. The ring begins at the rank where
  /// it enters node 0.
  [[nodiscard]] int position_of(int rank) const;
  [[nodiscard]] int rank_at(int position) const;

 private:
  Nodes nodes_;
  int entry_;
};

/// The place of a rank in one of the two trees of a channel. The head of a node is its rank `entry`
/// (modulo the ranks of the node). The heads form a tree of double_tree.hpp; the other ranks of a node
/// form a chain below its head.
struct ChannelTreePlace {
  int level = 0;  ///< number of edges to the root
  std::optional<int> parent = {};
  std::vector<int> children = {};
};
[[nodiscard]] ChannelTreePlace place_in_channel_tree(Nodes nodes, int rank, int entry, int tree);

/// The number of edges from the root to the deepest leaf of a channel's trees.
[[nodiscard]] int channel_tree_depth(Nodes nodes);

/// How many times a ring goes around. The share of a channel is sent in as many parts, each of P pieces
/// of at most `chunk_words` words (0: any number).
[[nodiscard]] int ring_loops(std::int64_t words, int ranks, int channels, std::int64_t chunk_words);
/// The number of chunks in each half of a channel's share, for trees. `chunk_words` is the largest
/// size of a chunk. If it is 0, the size begins at 131072 (512 KiB) and is halved, down to 8192, as
/// long as there are fewer than 8 chunks per level.
[[nodiscard]] int tree_chunks(std::int64_t words, int depth, int channels,
                              std::int64_t chunk_words);

/// A reduce-scatter and an allgather around the ring of each channel, `loops` times. A rank posts up
/// to 8 receives ahead in each channel (the slots of NCCL's buffers), so that the delays of the
/// protocol overlap.
/// Cost with C channels and L loops: L C 2 (P-1) messages of L/(C L P) words per rank; on the α-β
/// machine, where all channels of a rank share its port, L C 2 (P-1) α + 2 n (P-1)/P β at least.
/// Memory: references to C L P pieces per rank; the sums are shared.
[[nodiscard]] Task<Message> allreduce_channel_rings(Communicator& comm, Nodes nodes, Message mine,
                                                    const Reduction& reduction, int channels,
                                                    int loops, LineFormat format);

/// A part of block `rank` of a value that a rank holds, if each block is cut into `parts` of them.
using CutBlock = std::function<Message(const Message& held, int rank, int part, int parts)>;

/// What a ring does on one way around.
enum class RingWork : std::uint8_t { allreduce, reduce_scatter, allgather };
/// The half of this allreduce that leaves block r of the sum on rank r, or that begins with block r of
/// `mine` on rank r and leaves all blocks on all ranks. Each channel carries its share of each block.
/// Cost: L C (P-1) messages of n/(C L P) words per rank. Memory: references to C L P pieces per rank.
[[nodiscard]] Task<Message> half_channel_rings(Communicator& comm, Nodes nodes, Message mine,
                                               const Reduction& reduction, RingWork half,
                                               const CutBlock& cut_block, int channels, int loops,
                                               LineFormat format);

/// In each of the two trees of each channel, a half of the channel's share is summed towards the
/// root, and the sum is sent back down, chunk by chunk. A rank has one message under way to each
/// neighbour in each tree. In each tree, one thread block sums and
/// another one hands down, and each takes `per_word` for a word of a chunk, one chunk after another.
/// Memory: references to 2 C times `chunks` pieces per rank; the sums are shared.
[[nodiscard]] Task<Message> allreduce_channel_trees(Communicator& comm, Nodes nodes, Message mine,
                                                    const Reduction& reduction, int channels,
                                                    int chunks, LineFormat format,
                                                    Seconds per_word = {});

}  // namespace thinwire::algorithms
