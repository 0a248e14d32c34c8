// Allreduce for nodes of several ranks: between nodes only their leaders speak.
#pragma once

#include <functional>

#include "algorithms/options.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// How ranks fall into nodes: node i has ranks [i size, (i + 1) size), the last one maybe fewer.
struct Nodes {
  int size = 1;
  int count = 1;
};
/// The option `node`, ranks of a node.
[[nodiscard]] OptionInfo node_option();
/// As the option says; a node of more ranks than there are is a node of them all.
[[nodiscard]] Nodes nodes_of(const Options& options, int ranks);

/// What the leaders do with their nodes' sums: a coroutine that gives each of them the result, of
/// the whole, on a communicator of the leaders alone. It may be of another kind than the sums, as
/// where leaders select anew.
using AmongLeaders = std::function<Task<Message>(Communicator& leaders, Message sum)>;

/// Node i has ranks [i node, (i + 1) node), the last one maybe fewer; its first rank leads.
/// Schedule, each a phase: reduce to the leader inside each node (reduce_in_node), `among_leaders`,
/// broadcast from the leader inside each node (broadcast_in_node).
/// Cost for values of L words: 2 ceil log(min(node, P)) (α + Lβ) and that of `among_leaders`, which
/// starts at one time on all leaders unless the last node is so small that its tree is lower.
/// Every rank gets what its leader has, so all agree to the last bit if the leaders do. Sparse
/// values grow inside the node as they do in any reduction.
[[nodiscard]] Task<Message> allreduce_hierarchical(Communicator& comm, int node, Message mine,
                                                   const Reduction& reduction,
                                                   const AmongLeaders& among_leaders);

}  // namespace thinwire::algorithms
