// Dense allreduces for nodes of several ranks, each of which carries its part between nodes.
//
//   hierarchical_ring         between nodes dense_ring
//   hierarchical_rabenseifner between nodes dense_rabenseifner
//
// Cho, Finkler, Serrano, Kung, Hunter, "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy" (MLSys 2019), with two levels: a reduce-scatter inside each node,
// an allreduce between nodes for each part, and an allgather inside each node. BlueConnect has rings
// inside nodes; here every rank exchanges its parts with every other one directly, which is as fast
// behind one switch, and faster where only two ranks of a node are busy.
//
// Schedule: algorithms/collectives/hierarchical.hpp. Node i has ranks [i g, (i + 1) g), as `block`
// placement puts them on hosts; the last may have fewer. g is the option `node`, by default the
// number of ranks on a node of the platform. There are as many rails as ranks on the smallest node.
// Cost, m = ceil(P/g) nodes:
//   reduce_scatter_in_node and allgather_in_node  (g - 1) (α + n/g β) each
//   along_rails                                   the cost of the flat scheme: m ranks, n/g words
// (with P for g if all ranks are in one node). In all 2n (P-1)/P β, as the flat schemes, of which
// only 2n (m-1)/(m g) per rank go between nodes.
// Exact with the added terms where g divides P and n, if the flat scheme is exact at m ranks and n/g
// words. Otherwise pieces differ by a word, or the ranks of the last node are early.
//
// Option `leader`: the first rank of each node, its leader, sums the whole gradient of the node by a
// binomial tree, the flat scheme runs among the leaders, and the result goes back through the tree
// (Jia et al., arXiv:1807.11205, 2018; the first hierarchical allreduce of Horovod, there with rings
// inside the groups). Cost: 2 ceil(log g) (α + nβ), plus the flat scheme with m ranks and n
// words. It has fewer messages, for short gradients; one NIC of a node carries everything.
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 800, P = 8, node = 4, ring: 3 messages of 200 words inside the nodes, 2
// messages of 100 words between the 2 nodes, 3 of 200 words inside: 8 α + 1400 β. With leader=true: 2
// messages and 1600 words to the leaders, the same back, and 2 messages of 400 words among 2
// leaders: 6 α + 4000 β. Flat: 14 α + 1400 β.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kLeader = "leader";

class Hierarchical final : public Scheme {
 public:
  Hierarchical(const SchemeSetup& setup, AllreduceSchedule schedule)
      : setup_(setup),
        reduction_(*setup.shared, setup.gamma, setup.space),
        nodes_(nodes_of(setup.options, setup.ranks, setup.node)),
        leader_(setup.options.flag(kLeader)),
        schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    Message mine = message_of(gradient, setup_.space);
    gradient = {};
    const AmongLeaders among = [this](Communicator& leaders, Message sum) {
      return schedule_(leaders, std::move(sum), reduction_);
    };
    const AlongRail along = [this](Communicator& rail, Message piece, int index) {
      return sum_piece(rail, std::move(piece), index);
    };
    Message total;
    if (leader_) {
      total =
          co_await allreduce_hierarchical(comm, nodes_.size, std::move(mine), reduction_, among);
    } else {
      total = co_await allreduce_over_rails(comm, nodes_, std::move(mine), reduction_, along);
    }
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  Task<Message> sum_piece(Communicator& rail, Message piece, int index) {
    const std::int64_t n = setup_.space.components;
    const GradientReduction of_piece(
        *setup_.shared, setup_.gamma, setup_.space,
        ComponentRange{.first = part_begin(n, nodes_.rails(), index),
                       .last = part_begin(n, nodes_.rails(), index + 1)});
    co_return co_await schedule_(rail, std::move(piece), of_piece);
  }

  const SchemeSetup& setup_;
  GradientReduction reduction_;
  Nodes nodes_;
  bool leader_;
  AllreduceSchedule schedule_;
};

/// A flat scheme, as the leaders or the ranks of a rail use it.
struct Flat {
  SchemeInfo info;
  AllreduceSchedule schedule;
};

Cost leader_cost(const CostInput& in, const Flat& flat) {
  const Nodes nodes = nodes_of(*in.options, in.ranks, in.node);
  CostInput among = in;
  among.ranks = nodes.count;
  among.precision = {};  // SchemeInfo::cost() scales the whole
  const double height = ceil_log2(nodes.size);
  const bool alike = among.ranks == 1 || ceil_log2(nodes.rails()) == height;
  const Cost cost = flat.info.cost(among);
  Interval leaders = cost.run();
  if (!alike) {
    // One leader is early, and the longest pieces need not be on the path of the others.
    CostInput shortest = among;
    shortest.n -= in.n % std::bit_floor(static_cast<unsigned>(among.ranks));
    leaders.low = flat.info.cost(shortest).run().low;
  }

  const auto n = static_cast<double>(in.n);
  const double log = std::log2(static_cast<double>(nodes.size));
  const auto in_nodes = [n](double messages, double words, double reduced) {
    return Terms{2 * messages, 2 * n * words, n * reduced};
  };
  const Interval counted = cost.counted + same(in_nodes(height, log, log));
  // If the tree is not full, all sums except the last may hide behind messages.
  const double least = height == log ? height : 1;
  const Interval trees{in_nodes(height, height, least), in_nodes(height, height, height)};
  const Interval run = leaders + trees;
  return {.paper = {},
          .counted = counted,
          .added = {run.low + (-1.0) * counted.low, run.high + (-1.0) * counted.high},
          .exact = cost.exact && alike};
}

Cost rails_cost(const CostInput& in, const Flat& flat) {
  const Nodes nodes = nodes_of(*in.options, in.ranks, in.node);
  const int rails = nodes.rails();
  const bool alike = rails == nodes.size;
  const auto along = [&](std::int64_t piece, int count) {
    CostInput one = in;
    one.ranks = count;
    one.n = piece;
    one.precision = {};  // SchemeInfo::cost() scales the whole
    return flat.info.cost(one);
  };
  const auto inside = [&](std::int64_t piece) {
    const double steps = nodes.size - 1;
    const double words = steps * static_cast<double>(piece);
    return Terms{2 * steps, 2 * words, words};
  };
  const std::int64_t shortest = in.n / rails;
  const std::int64_t longest = (in.n + rails - 1) / rails;
  // Where the last node is smaller, its ranks are early, and may be the ones that fold in.
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes.count)));
  const bool folds = !alike && flat.schedule == allreduce_rabenseifner;
  const Cost cost = along(longest, nodes.count);
  Interval run{along(shortest, folds ? core : nodes.count).run().low + inside(shortest),
               cost.run().high + inside(longest)};
  // A sum inside a node that is early hides behind messages.
  if (!alike) run.low.reduced = static_cast<double>(shortest);
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  Cost result = interval_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, run);
  result.exact = alike && cost.exact && shortest == longest;
  return result;
}

Cost hierarchical_cost(const CostInput& in, const Flat& flat) {
  return in.options->flag(kLeader) ? leader_cost(in, flat) : rails_cost(in, flat);
}

SchemeInfo entry(std::string name, std::string summary, const std::string& flat_latency,
                 std::string exact_when, const Flat& flat) {
  // With leader = 0 the cost over rails, with 1 the cost of the leaders.
  const std::string leaders = "n log min(node, P) + n (ceil(P/node) - 1)/ceil(P/node)";
  const std::string both = "(1 - leader) n (P-1)/P + leader (" + leaders + ")";
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .source = "BlueConnect (MLSys 2019), two levels; leader: Jia et al. (arXiv:1807.11205, 2018)",
      .paper = {.latency = "(1 - leader) 2 (min(node, P) - 1) + leader 2 log min(node, P) + " +
                           flat_latency,
                .words = "2 (" + both + ")",
                .reduced = both},
      .exact_when = std::move(exact_when),
      .added = "remainders of the pieces; smaller last nodes; terms of the scheme between nodes",
      .dense = true,
      .independent_iterations = true,
      .options = {node_option(),
                  {kLeader, false, 0,
                   "one rank of each node sends the whole gradient for all; false: each rank "
                   "sends its part"}},
      .run_cost = [flat](const CostInput& in) { return hierarchical_cost(in, flat); },
      .make =
          [schedule = flat.schedule](const SchemeSetup& setup) {
            return std::make_unique<Hierarchical>(setup, schedule);
          }};
}

}  // namespace

std::vector<SchemeInfo> hierarchical_schemes() {
  const std::vector<SchemeInfo> dense = dense_schemes();
  const auto named = [&](const char* name) {
    return *std::ranges::find(dense, name, &SchemeInfo::name);
  };
  const Flat ring{named("dense_ring"), allreduce_ring};
  const Flat rabenseifner{named("dense_rabenseifner"), allreduce_rabenseifner};
  return {
      entry(
          "hierarchical_ring",
          "reduce-scatter inside nodes; a ring between nodes for each part; allgather inside nodes",
          "2 (ceil(P/node) - 1)", "node divides P and P divides n", ring),
      entry("hierarchical_rabenseifner",
            "reduce-scatter inside nodes; Rabenseifner's allreduce between nodes for each part; "
            "allgather inside nodes",
            "2 log ceil(P/node)",
            "node divides P and n, and P/node meets the condition of dense_rabenseifner for "
            "n/node",
            rabenseifner)};
}

}  // namespace thinwire::algorithms
