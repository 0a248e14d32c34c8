// Allreduce for nodes of several ranks: only the leaders of the nodes communicate between nodes.
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
};
/// The option `node`: ranks per node.
[[nodiscard]] OptionInfo node_option();
/// The nodes that the option defines. If `node` is larger than the number of ranks, there is one
/// node with all ranks.
[[nodiscard]] Nodes nodes_of(const Options& options, int ranks);

/// The allreduce of the leaders: a coroutine on a communicator of the leaders alone, which takes
/// the sum of a node and returns the result. The type of the result may differ from that of the
/// sum, for example if the leaders select again.
using AmongLeaders = std::function<Task<Message>(Communicator& leaders, Message sum)>;

/// Node i has the ranks [i node, (i + 1) node), and the last node may have fewer. The first rank of
/// a node is its leader.
/// Schedule, one phase each: reduce to the leader inside each node (reduce_in_node),
/// `among_leaders`, broadcast from the leader inside each node (broadcast_in_node).
/// Cost for values of L words: 2 ceil log(min(node, P)) (α + Lβ) plus the cost of `among_leaders`,
/// which starts at the same time on all leaders unless the last node is so small that its tree has
/// fewer levels. All ranks agree to the last bit if the leaders do. The number of entries of sparse
/// values grows inside the node (fill-in), as in any reduction.
[[nodiscard]] Task<Message> allreduce_hierarchical(Communicator& comm, int node, Message mine,
                                                   const Reduction& reduction,
                                                   const AmongLeaders& among_leaders);

}  // namespace thinwire::algorithms
