// Allreduce for nodes of several ranks: only the leaders of the nodes communicate between nodes.
#pragma once

#include <functional>

#include "algorithms/options.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The division of ranks into nodes: node i has ranks [i size, (i + 1) size), the last maybe fewer.
struct Nodes {
  int size = 1;
  int count = 1;
};
/// The option `node`: ranks per node.
[[nodiscard]] OptionInfo node_option();
/// The nodes that the option defines; a size larger than the number of ranks makes one node of all.
[[nodiscard]] Nodes nodes_of(const Options& options, int ranks);

/// The allreduce of the leaders: a coroutine on a communicator of the leaders alone that turns a
/// node's sum into the result, which may be of another kind, as when leaders select anew.
using AmongLeaders = std::function<Task<Message>(Communicator& leaders, Message sum)>;

/// Node i has ranks [i node, (i + 1) node), the last maybe fewer; its first rank is the leader.
/// Schedule, one phase each: reduce to the leader inside each node (reduce_in_node),
/// `among_leaders`, broadcast from the leader inside each node (broadcast_in_node).
/// Cost for values of L words: 2 ceil log(min(node, P)) (α + Lβ) plus that of `among_leaders`,
/// which starts at the same time on all leaders unless the last node is so small that its tree is
/// lower. All ranks agree to the last bit if the leaders do. Sparse values fill in inside the node
/// as in any reduction.
[[nodiscard]] Task<Message> allreduce_hierarchical(Communicator& comm, int node, Message mine,
                                                   const Reduction& reduction,
                                                   const AmongLeaders& among_leaders);

}  // namespace thinwire::algorithms
