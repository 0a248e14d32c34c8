#include "algorithms/collectives/over_rails.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

namespace {

Members members_of_node(const Nodes& nodes, Rank rank) {
  const int node = nodes.node_of(rank.value());
  return {.first = nodes.first_of(node), .count = nodes.size_of(node), .stride = 1};
}

Members members_of_rail(const Nodes& nodes, int rail) {
  return {.first = rail, .count = nodes.count, .stride = nodes.size};
}

/// The boundaries of the rails' parts for the ranks of a node; parts of ranks beyond the rails are
/// empty.
Boundaries parts_of_rails(const RailRegions& regions, const Boundaries& boundaries, int ranks) {
  std::vector<std::int64_t> cuts;
  for (int rail = 0; rail <= ranks; ++rail) {
    const int region = std::min(rail, regions.nodes().rails()) * regions.nodes().count;
    cuts.push_back(boundaries[static_cast<std::size_t>(region)]);
  }
  return Boundaries(std::move(cuts));
}

Boundaries regions_of_rail(const RailRegions& regions, const Boundaries& boundaries, int rail) {
  const auto count = static_cast<std::size_t>(regions.nodes().count);
  const auto cuts = boundaries.all().subspan(static_cast<std::size_t>(rail) * count, count + 1);
  return Boundaries({cuts.begin(), cuts.end()});
}

}  // namespace

Task<SparseVector> split_over_rails(Communicator& comm, RailRegions regions, SparseVector selected,
                                    Boundaries boundaries, const SchemeSetup& setup,
                                    SplitStyle style) {
  const Nodes& nodes = regions.nodes();
  if (nodes.size == 1) {
    Task<SparseVector> task =
        split_and_reduce(comm, std::move(selected), std::move(boundaries), setup, style);
    co_return co_await std::move(task);
  }
  Group inside(comm, members_of_node(nodes, comm.rank()));
  const int rail = inside.rank().value();
  SparseVector part;
  {
    const auto phase = comm.phase("split_in_node");
    Task<SparseVector> task =
        split_and_reduce(inside, std::move(selected),
                         parts_of_rails(regions, boundaries, inside.size()), setup, style);
    part = co_await std::move(task);
  }
  if (rail >= nodes.rails()) co_return part;
  const auto phase = comm.phase("split_along_rails");
  Group along(comm, members_of_rail(nodes, rail));
  Task<SparseVector> task = split_and_reduce(
      along, std::move(part), regions_of_rail(regions, boundaries, rail), setup, style);
  co_return co_await std::move(task);
}

Task<Concatenation> allgather_over_rails(Communicator& comm, RailRegions regions, SparseVector mine,
                                         const SchemeSetup& setup) {
  const Nodes& nodes = regions.nodes();
  if (nodes.size == 1) co_return co_await allgather(comm, mine.message(setup.space));
  Group inside(comm, members_of_node(nodes, comm.rank()));
  const int rail = inside.rank().value();
  if (rail < nodes.rails()) {
    const auto phase = comm.phase("allgather_along_rails");
    Group along(comm, members_of_rail(nodes, rail));
    const Concatenation gathered = co_await allgather(along, mine.message(setup.space));
    mine = concatenation_of_gathered(gathered, *setup.shared);
  }
  const auto phase = comm.phase("allgather_in_node");
  co_return co_await allgather(inside, mine.message(setup.space));
}

}  // namespace thinwire::algorithms
