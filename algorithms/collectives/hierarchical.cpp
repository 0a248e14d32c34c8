#include "algorithms/collectives/hierarchical.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/reduce.hpp"
#include "algorithms/collectives/tags.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

OptionInfo node_option() {
  return {kNodeOption, std::int64_t{0}, 0,
          "ranks of a node, which follow one another; 0: the platform's, or 8"};
}

int node_size(const Options& options, int known) {
  constexpr int kUnknown = 8;
  const std::int64_t given = options.integer(kNodeOption);
  if (given > 0) return static_cast<int>(std::min<std::int64_t>(given, 1 << 30));
  return known > 0 ? known : kUnknown;
}

Nodes nodes_of(const Options& options, int ranks, int known) {
  const int size = std::min(node_size(options, known), ranks);
  return {.size = size, .count = (ranks - 1) / size + 1, .ranks = ranks};
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

Task<Message> allreduce_over_rails(Communicator& comm, Nodes nodes, Message mine,
                                   const Reduction& reduction, const AlongRail& along_rail) {
  const int node = nodes.node_of(comm.rank().value());
  const int size = nodes.size_of(node);
  const int rails = nodes.rails();
  Group inside(comm, {.first = nodes.first_of(node), .count = size, .stride = 1});
  const int own = inside.rank().value();
  const bool has_rail = own < rails;
  const Part part{{own, own + 1}, rails};
  const auto after = [&](int step) { return (own + step) % size; };
  const auto before = [&](int step) { return (own + size - step) % size; };
  Message piece;
  if (has_rail) piece = reduction.cut(mine, part.range, rails);
  {
    const auto phase = comm.phase("reduce_scatter_in_node");
    for (int step = 1; step < size; ++step) {
      const int to = after(step);
      Request sent;
      if (to < rails) {
        sent = inside.isend(Rank(to), kReduceScatterTag, reduction.cut(mine, {to, to + 1}, rails));
      }
      if (has_rail) {
        const Message theirs =
            co_await inside.wait(inside.irecv(Rank(before(step)), kReduceScatterTag));
        Summed summed = reduction.sum(piece, theirs, part);
        co_await comm.compute(summed.work);
        piece = std::move(summed.message);
      }
      if (to < rails) co_await inside.wait(sent);
    }
  }
  mine = {};
  if (has_rail) {
    const auto phase = comm.phase("along_rails");
    Group rail(comm, {.first = own, .count = nodes.count, .stride = nodes.size});
    piece = co_await along_rail(rail, std::move(piece), own);
  }
  const auto phase = comm.phase("allgather_in_node");
  std::vector<Message> pieces(static_cast<std::size_t>(rails));
  for (int step = 1; step < size; ++step) {
    const int from = before(step);
    Request sent;
    if (has_rail) sent = inside.isend(Rank(after(step)), kAllgatherTag, piece);
    if (from < rails) {
      pieces[static_cast<std::size_t>(from)] =
          co_await inside.wait(inside.irecv(Rank(from), kAllgatherTag));
    }
    if (has_rail) co_await inside.wait(sent);
  }
  if (has_rail) pieces[static_cast<std::size_t>(own)] = std::move(piece);
  co_return reduction.join(pieces);
}

}  // namespace thinwire::algorithms
