// Allreduce for nodes of several ranks.
#pragma once

#include <functional>

#include "algorithms/options.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The division of ranks into nodes: node i has the ranks [i size, (i + 1) size). The last node may
/// have fewer ranks.
struct Nodes {
  int size = 1;
  int count = 1;
  int ranks = 1;

  [[nodiscard]] int node_of(int rank) const { return rank / size; }
  [[nodiscard]] int first_of(int node) const { return node * size; }
  /// The number of ranks of a node.
  [[nodiscard]] int size_of(int node) const {
    return node + 1 < count ? size : ranks - node * size;
  }
  /// The number of ranks of the smallest node, which is the last one.
  [[nodiscard]] int rails() const { return size_of(count - 1); }
};
/// The option `node`: ranks per node.
inline constexpr const char* kNodeOption = "node";
[[nodiscard]] OptionInfo node_option();
/// The ranks of a node as the option says; if it is 0, `known` (SchemeSetup::node), or 8 if that is
/// 0 too.
[[nodiscard]] int node_size(const Options& options, int known);
/// The nodes that the option defines. If `node` is larger than the number of ranks, there is one
/// node with all ranks.
[[nodiscard]] Nodes nodes_of(const Options& options, int ranks, int known);

/// The allreduce of the leaders: a coroutine on a communicator of the leaders alone, which takes
/// the sum of a node and returns the result.
using AmongLeaders = std::function<Task<Message>(Communicator& leaders, Message sum)>;

/// Node i has the ranks [i node, (i + 1) node), and the last node may have fewer. The first rank of
/// a node is its leader, and only the leaders communicate between nodes.
/// Schedule, one phase each: reduce to the leader inside each node (reduce_in_node),
/// `among_leaders`, broadcast from the leader inside each node (broadcast_in_node).
/// Cost for values of L words: 2 ceil log(min(node, P)) (α + Lβ) plus the cost of `among_leaders`,
/// which starts at the same time on all leaders unless the last node is so small that its tree has
/// fewer levels. All ranks agree to the last bit if the leaders do. The number of entries of sparse
/// values grows inside the node (fill-in), as in any reduction.
[[nodiscard]] Task<Message> allreduce_hierarchical(Communicator& comm, int node, Message mine,
                                                   const Reduction& reduction,
                                                   const AmongLeaders& among_leaders);

/// The allreduce of one piece of the value on one rail: rank i of every node. The result on all of
/// them is the sum of the piece.
using AlongRail = std::function<Task<Message>(Communicator& rail, Message piece, int index)>;

/// Two-level allreduce over all rails. The value is cut into R pieces, where R is the number of
/// ranks of the smallest node; rail i consists of the ranks i of all nodes.
/// Schedule, one phase each: in each node, rank i < R receives piece i from the others and sums it
/// (reduce_scatter_in_node); rail i sums piece i over the nodes (along_rails); rank i < R sends the
/// sum to the others of its node (allgather_in_node). Both exchanges inside nodes go directly from
/// rank to rank, in node - 1 steps.
/// Cost for dense values of L words, if node divides P: 2 (node - 1) (α + L/node β) plus the cost of
/// `along_rail` for L/node words. All ranks agree to the last bit if the ranks of each rail do.
[[nodiscard]] Task<Message> allreduce_over_rails(Communicator& comm, Nodes nodes, Message mine,
                                                 const Reduction& reduction,
                                                 const AlongRail& along_rail);

}  // namespace thinwire::algorithms
