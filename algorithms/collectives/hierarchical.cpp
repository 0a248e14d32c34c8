#include "algorithms/collectives/hierarchical.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/reduce.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

OptionInfo node_option() {
  return {"node", std::int64_t{8}, 1, "ranks of a node, which follow one another"};
}

Nodes nodes_of(const Options& options, int ranks) {
  const auto size = static_cast<int>(std::min<std::int64_t>(options.integer("node"), ranks));
  return {.size = size, .count = (ranks - 1) / size + 1};
}

Task<Message> allreduce_hierarchical(Communicator& comm, int node, Message mine,
                                     const Reduction& reduction,
                                     const AmongLeaders& among_leaders) {
  const int size = comm.size();
  const int leader = comm.rank().value() / node * node;
  const Members neighbours{.first = leader, .count = std::min(node, size - leader), .stride = 1};
  Group inside(comm, neighbours);
  Message total;
  {
    const auto phase = comm.phase("reduce_in_node");
    total = co_await reduce(inside, Rank(0), std::move(mine), reduction);
  }
  if (inside.rank() == Rank(0)) {
    const auto phase = comm.phase("among_leaders");
    const Members all{.first = 0, .count = (size - 1) / node + 1, .stride = node};
    Group leaders(comm, all);
    total = co_await among_leaders(leaders, std::move(total));
  }
  const auto phase = comm.phase("broadcast_in_node");
  co_return co_await broadcast(inside, Rank(0), std::move(total));
}

}  // namespace thinwire::algorithms
