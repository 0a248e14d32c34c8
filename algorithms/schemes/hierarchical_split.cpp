// hierarchical_split_allgather: SparCML's ssar_split_allgather for nodes of several ranks. The
// selections of a node are added first, and each rank of it carries one part of the sum between
// nodes.
//
// This composition is ours, of SSAR_Split_allgather (SparCML, SC 2019, section 5.3.2) and the two
// levels of BlueConnect (MLSys 2019). The result and the contributions are the same as with
// ssar_split_allgather and topka: the sum of all selections.
//
// Schedule, for nodes as in algorithms/collectives/hierarchical.hpp, with g ranks and R rails, and m
// nodes:
//   split_in_node      region i of R of the selection to rank i of the node, by direct exchange,
//                      which sums it
//   split_along_rails  of the ranks i of all nodes, each sums one of m parts of region i
//   allgather_along_rails, allgather_in_node  by recursive doubling
// Cost, from equal selections to such without a common index:
//   split_in_node          (g - 1) α + 2k (g-1)/g β
//   split_along_rails      (m - 1) α + [2k/g, 2k] (m-1)/m β
//   allgather_along_rails  log m α + [2k/g (m-1)/m, 2k (m-1)] β
//   allgather_in_node      log g α + [2k (g-1)/g, 2k P (g-1)/g] β
// Between nodes a rank sends at most k entries, and at most those that the node has in its part; of
// ssar_split_allgather k (P-g)/P. It takes g + m - 2 messages in place of P - 1.
// Restrictions: none. Concentrated selections take longer, up to the upper end of the interval.
// Streams never become dense. Memory: as ssar_split_allgather.
//
// Worked example: P = 8, node = 4, k = 800 with equal indexes: 3 messages of 200 entries, 1 of 100,
// 1 of 100, and 2 messages of 200 and 400: 7 α + 2800 β; 4k (P-1)/P = 2800.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/over_rails.hpp"

namespace thinwire::algorithms {

namespace {

class HierarchicalSplit final : public SparseCollective {
 public:
  explicit HierarchicalSplit(const SchemeSetup& setup)
      : setup_(setup),
        regions_(nodes_of(setup.options, setup.ranks, setup.node)),
        boundaries_(boundaries()) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    Task<SparseVector> task =
        split_over_rails(comm, regions_, selected, boundaries_, setup_, {.merges = true});
    const SparseVector part = co_await std::move(task);
    const Concatenation gathered = co_await allgather_over_rails(comm, regions_, part, setup_);
    co_return Reduced{.sum = concatenation_of_gathered(gathered, *setup_.shared),
                      .contributed = selected};
  }

 private:
  /// Equal parts for the rails, and equal regions of each. All ranks share one list.
  [[nodiscard]] Boundaries boundaries() const {
    const int rails = regions_.nodes().rails();
    const int nodes = regions_.nodes().count;
    const std::int64_t n = setup_.space.components;
    const auto bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    const Fingerprint what{bits(rails) << 32U | bits(nodes), bits(n)};
    const Message shared = setup_.shared->once(
        "regions of rails", what, {}, [&] { return equal_parts(rails, nodes, n).message(); });
    return Boundaries::from(shared.payload);
  }
  [[nodiscard]] Boundaries equal_parts(int rails, int nodes, std::int64_t n) const {
    std::vector<std::int64_t> cuts;
    for (int rail = 0; rail < rails; ++rail) {
      const std::int64_t first = part_begin(n, rails, rail);
      const std::int64_t length = part_length(n, rails, rail);
      for (int node = 0; node < nodes; ++node) {
        cuts.push_back(setup_.space.coordinate(first + part_begin(length, nodes, node)));
      }
    }
    cuts.push_back(setup_.space.coordinates());
    return Boundaries(std::move(cuts));
  }

  const SchemeSetup& setup_;
  RailRegions regions_;
  Boundaries boundaries_;
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
  cost.counted.high = {messages, std::max(even, in.entry() * (up + down)),
                       (region(1) * (g - 1) * (g + 2) + part(g) * (m - 1) * (m + 2)) / 2};
  // Ranks that have less to do in one phase wait in the next one.
  if (!alike) cost.added.high.messages = messages;
  return cost;
}

}  // namespace

SchemeInfo hierarchical_split_scheme() {
  const std::string g = "min(node, P)";
  const std::string m = "ceil(P/node)";
  return {.name = "hierarchical_split_allgather",
          .summary =
              "regions summed inside nodes, then their parts along rails; allgather along rails, "
              "then inside nodes",
          .source = "ours: SparCML (SC 2019), section 5.3.2, with the levels of BlueConnect (2019)",
          .paper = {.latency = "(" + g + " - 1) + (" + m + " - 1) + log " + g + " + log " + m,
                    .words = "4k (P-1)/P",
                    .words_high = "2k (P + 1) (" + g + " - 1)/" + g + " + 2k (" + m + " + 1) (" +
                                  m + " - 1)/" + m,
                    .reduced = "0",
                    .reduced_high = "(k (" + g + " - 1) (" + g + " + 2) + k " + g + " (" + m +
                                    " - 1) (" + m + " + 2))/2",
                    .ours = true},
          .added = "concentrated selections; smaller last nodes",
          .independent_iterations = true,
          .stand_ins = {.uneven_parts = UnevenParts::sent_and_gathered, .adds_in_nodes = true},
          .options = {node_option()},
          .run_cost = hierarchical_split_cost,
          .collective = [](const SchemeSetup& setup) {
            return std::make_unique<HierarchicalSplit>(setup);
          }};
}

}  // namespace thinwire::algorithms
