#include "algorithms/schemes/hierarchical_split.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

namespace {

class HierarchicalSplit final : public SparseCollective {
 public:
  explicit HierarchicalSplit(const SchemeSetup& setup)
      : setup_(setup), nodes_(nodes_of(setup.options, setup.ranks, setup.node)) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const int node = nodes_.node_of(comm.rank().value());
    Group inside(comm,
                 {.first = nodes_.first_of(node), .count = nodes_.size_of(node), .stride = 1});
    const int own = inside.rank().value();
    SparseVector part;
    {
      const auto phase = comm.phase("split_in_node");
      const ComponentRange all{.first = 0, .last = setup_.space.components};
      const Boundaries regions = regions_of(all, nodes_.rails(), inside.size());
      Task<SparseVector> task = split_and_reduce(inside, selected, regions, setup_, {});
      part = co_await std::move(task);
    }
    if (own < nodes_.rails()) {
      Task<SparseVector> task = along_rail(comm, own, std::move(part));
      part = co_await std::move(task);
    }
    const auto phase = comm.phase("allgather_in_node");
    const Concatenation gathered = co_await allgather(inside, part.message(setup_.space));
    co_return Reduced{.sum = concatenation_of_gathered(gathered, *setup_.shared),
                      .contributed = selected};
  }

 private:
  /// The sum of a region over the nodes.
  Task<SparseVector> along_rail(Communicator& comm, int own, SparseVector part) {
    Group rail(comm, {.first = own, .count = nodes_.count, .stride = nodes_.size});
    const std::int64_t n = setup_.space.components;
    const ComponentRange range{.first = part_begin(n, nodes_.rails(), own),
                               .last = part_begin(n, nodes_.rails(), own + 1)};
    {
      const auto phase = comm.phase("split_along_rails");
      const Boundaries regions = regions_of(range, nodes_.count, nodes_.count);
      Task<SparseVector> task = split_and_reduce(rail, std::move(part), regions, setup_, {});
      part = co_await std::move(task);
    }
    const auto phase = comm.phase("allgather_along_rails");
    const Concatenation gathered = co_await allgather(rail, part.message(setup_.space));
    co_return concatenation_of_gathered(gathered, *setup_.shared);
  }

  /// The boundaries of `count` equal regions of a range, for `ranks` ranks; those of further ranks
  /// are empty.
  [[nodiscard]] Boundaries regions_of(ComponentRange range, int count, int ranks) const {
    std::vector<std::int64_t> cuts;
    for (int i = 0; i <= ranks; ++i) {
      const std::int64_t begin = part_begin(range.length(), count, std::min(i, count));
      cuts.push_back(setup_.space.coordinate(range.first + begin));
    }
    return Boundaries(std::move(cuts));
  }

  const SchemeSetup& setup_;
  Nodes nodes_;
};

Cost hierarchical_split_cost(const CostInput& in) {
  if (in.ranks == 1) return {};
  const Nodes nodes = nodes_of(*in.options, in.ranks, in.node);
  const double p = in.ranks;
  const double g = nodes.size;
  const double m = nodes.count;
  const auto n = static_cast<double>(in.n);
  const auto granule = static_cast<double>(in.granule);
  const double messages = g - 1 + m - 1 + ceil_log2(nodes.count) + ceil_log2(nodes.size);
  const bool alike = nodes.rails() == nodes.size;
  // The most entries of a region of a rail and of a part of it, after the sum over so many ranks.
  const auto region = [&](double ranks) {
    return std::min({in.most() * ranks, n, n / nodes.rails() + 2 * granule});
  };
  const auto part = [&](double ranks) {
    return std::min(region(ranks), n / nodes.rails() / m + 2 * granule);
  };
  const double up = region(1) * (g - 1) + part(g) * (m - 1);
  const double down = part(p) * (m - 1) + region(p) * (g - 1);
  const double even = 2 * in.entry() * in.least() * (p - 1) / p;
  Cost cost;
  cost.counted.low = {messages, alike ? even : 0, 0};
  cost.counted.high = {messages, std::max(even, in.entry() * (up + down)), up};
  // Ranks that have less to do in one phase wait in the next one.
  if (!alike) cost.added.high.messages = messages;
  return cost;
}

}  // namespace

SchemeInfo hierarchical_split_scheme() {
  const std::string g = "min(node, P)";
  const std::string m = "ceil(P/node)";
  return {.name = "hierarchical_split_allgather",
          .summary = "selections added inside nodes, a part of the sum per rank between nodes",
          .source = "ours: SparCML (SC 2019), section 5.3.2, with the levels of BlueConnect (2019)",
          .paper = {.latency = "(" + g + " - 1) + (" + m + " - 1) + log " + g + " + log " + m,
                    .words = "4k (P-1)/P",
                    .words_high = "2k (P + 1) (" + g + " - 1)/" + g + " + 2k (" + m + " + 1) (" +
                                  m + " - 1)/" + m,
                    .reduced = "0",
                    .reduced_high = "k (" + g + " - 1) + k " + g + " (" + m + " - 1)"},
          .added = "concentrated selections; smaller last nodes",
          .uneven_parts = true,
          .options = {node_option()},
          .run_cost = hierarchical_split_cost,
          .collective = [](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
            return std::make_unique<HierarchicalSplit>(setup);
          }};
}

}  // namespace thinwire::algorithms
