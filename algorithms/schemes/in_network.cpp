#include "algorithms/schemes/in_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/schemes/dense.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kChunks = "chunks";
constexpr double kMostChunks = 1024;

/// What an allreduce does at each level.
struct InNetworkPlan {
  Nodes nodes;
  bool in_node = false;  ///< the switch of a node sums
  bool between = false;  ///< the switches between nodes sum
  std::int64_t chunks = 1;

  [[nodiscard]] bool has_rails() const { return nodes.count > 1; }
  /// Steps from the first stage of a chunk to its last.
  [[nodiscard]] int last_stage() const { return has_rails() ? 2 : 1; }
};

/// The chunks that take the least time on one node: a chunk more costs a step, and fills the ports
/// better.
std::int64_t best_chunks(double words, int node, double beta, double step) {
  if (!(step > 0) || !(beta > 0)) return 4;
  return std::llround(
      std::clamp(std::sqrt(words * beta * (1 - 1.0 / node) / step), 1.0, kMostChunks));
}

InNetworkPlan plan_for(const Options& options, int ranks, std::int64_t words, int known_node,
                       const ReducingSwitches& switches, Seconds alpha, Seconds beta) {
  const bool given = options.integer(kNodeOption) > 0;
  InNetworkPlan plan{.nodes = nodes_of(options, ranks, given || known_node > 0 ? known_node : 1)};
  plan.in_node = switches.node.has_value() && plan.nodes.size > 1;
  plan.between = switches.network.has_value() && plan.nodes.count > 1;
  plan.chunks = options.integer(kChunks);
  if (plan.chunks == 0) {
    const double step = alpha.value() + (plan.in_node ? switches.node->latency.value() : 0);
    plan.chunks = best_chunks(static_cast<double>(words), plan.nodes.size, beta.value(), step);
  }
  if (!plan.in_node) plan.chunks = 1;
  return plan;
}

/// The same result for all members.
std::vector<Message> for_all(std::size_t members, const Message& result) {
  std::vector<Message> all(members, result);
  return all;
}

class InNetwork final : public Scheme {
 public:
  explicit InNetwork(const SchemeSetup& setup)
      : setup_(setup),
        reduction_(*setup.shared, setup.gamma, setup.space),
        plan_(plan_for(setup.options, setup.ranks,
                       setup.space.value_words(setup.space.components).value(), setup.node,
                       setup.switches, setup.alpha, setup.beta_per_word)) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    Message mine = message_of(gradient, setup_.space);
    gradient = {};
    if (comm.size() == 1) co_return Reduced{.sum = stream_from(mine.payload)};
    Message total;
    if (plan_.in_node) {
      total = co_await in_steps(comm, std::move(mine));
    } else {
      const AlongRail along = [this](Communicator& rail, Message piece, int index) {
        return along_rail(rail, std::move(piece), index);
      };
      total = co_await allreduce_over_rails(comm, plan_.nodes, std::move(mine), reduction_, along);
    }
    co_return Reduced{.sum = stream_from(total.payload)};
  }

 private:
  [[nodiscard]] int rails() const { return plan_.nodes.rails(); }
  [[nodiscard]] int pieces() const { return static_cast<int>(plan_.chunks) * rails(); }
  [[nodiscard]] PieceRange chunk(int index) const {
    return {index * rails(), (index + 1) * rails()};
  }

  /// The sum of what the members sent, which is the part `range`.
  [[nodiscard]] Message total_of(std::span<const Message> sent, PieceRange range) const {
    Message total = sent.front();
    for (const Message& one : sent.subspan(1)) {
      total = reduction_.sum(total, one, {range, pieces()}).message;
    }
    return total;
  }

  Task<Message> in_steps(Communicator& comm, Message mine) {
    const auto phase = comm.phase("in_switches");
    const int node = plan_.nodes.node_of(comm.rank().value());
    Group inside(
        comm,
        {.first = plan_.nodes.first_of(node), .count = plan_.nodes.size_of(node), .stride = 1});
    const int own = inside.rank().value();
    const int chunks = static_cast<int>(plan_.chunks);
    std::vector<Message> held(static_cast<std::size_t>(chunks));  // the rank's piece of each chunk
    std::vector<Message> totals(static_cast<std::size_t>(chunks));
    const auto at = [](int index) { return static_cast<std::size_t>(index); };
    for (int step = 0; step < chunks + plan_.last_stage(); ++step) {
      const int first = step;
      const int second = step - 1;
      const int third = step - plan_.last_stage();
      std::optional<Request> sum;
      std::optional<Request> copies;
      if (first < chunks) sum = sum_in_node(inside, mine, first);
      if (third >= 0) copies = copy_in_node(inside, std::move(held[at(third)]), third);
      if (plan_.has_rails() && second >= 0 && second < chunks && own < rails()) {
        Group rail(comm, {.first = own, .count = plan_.nodes.count, .stride = plan_.nodes.size});
        Task<Message> task = along_rail(rail, std::move(held[at(second)]), second * rails() + own);
        held[at(second)] = co_await std::move(task);
      }
      if (sum) held[at(first)] = co_await comm.wait(*sum);
      if (copies) totals[at(third)] = co_await comm.wait(*copies);
    }
    co_return reduction_.join(totals);
  }

  [[nodiscard]] Request sum_in_node(Communicator& inside, const Message& mine, int index) const {
    const PieceRange range = chunk(index);
    return inside.in_switches({.level = ReducingLevel::node,
                               .tag = kReduceScatterTag,
                               .message = reduction_.cut(mine, range, pieces()),
                               .function = [this, range](std::span<const Message> sent) {
                                 const Message total = total_of(sent, range);
                                 std::vector<Message> results(sent.size());
                                 for (int i = 0; i < rails(); ++i) {
                                   results[static_cast<std::size_t>(i)] = reduction_.cut(
                                       total, {range.first + i, range.first + i + 1}, pieces());
                                 }
                                 return results;
                               }});
  }

  [[nodiscard]] Request copy_in_node(Communicator& inside, Message piece, int index) const {
    const PieceRange range = chunk(index);
    return inside.in_switches(
        {.level = ReducingLevel::node,
         .tag = kAllgatherTag,
         .message = std::move(piece),
         .function = [this, range](std::span<const Message> sent) {
           const auto with_pieces = sent.first(static_cast<std::size_t>(rails()));
           return for_all(sent.size(), reduction_.join(with_pieces, {range, pieces()}));
         }});
  }

  /// The sum of piece `index` of all pieces over the nodes.
  Task<Message> along_rail(Communicator& rail, Message piece, int index) {
    if (!plan_.between) {
      const std::int64_t n = setup_.space.components;
      const GradientReduction of_piece(*setup_.shared, setup_.gamma, setup_.space,
                                       ComponentRange{.first = part_begin(n, pieces(), index),
                                                      .last = part_begin(n, pieces(), index + 1)});
      co_return co_await allreduce_ring(rail, std::move(piece), of_piece);
    }
    const PieceRange range{index, index + 1};
    const Request sum = rail.in_switches({.level = ReducingLevel::network,
                                          .tag = kAllreduceTag,
                                          .message = std::move(piece),
                                          .function = [this, range](std::span<const Message> sent) {
                                            return for_all(sent.size(), total_of(sent, range));
                                          }});
    co_return co_await rail.wait(sum);
  }

  const SchemeSetup& setup_;
  GradientReduction reduction_;
  InNetworkPlan plan_;
};

/// How many times as long as a port a switch takes for a word.
double slowness(const std::optional<ReducingSwitch>& of, const CostInput& in) {
  if (!of || !(in.beta_per_word > Seconds(0))) return 1;
  return std::max(1.0, 4 / of->bandwidth / in.beta_per_word.value());
}

double latency_of(const std::optional<ReducingSwitch>& of) { return of ? of->latency.value() : 0; }

/// The sum of a piece of `length` words along a rail.
Interval rail_terms(const InNetworkPlan& plan, const CostInput& in, std::int64_t length) {
  if (!plan.has_rails()) return {};
  if (!plan.between) return ring_terms(plan.nodes.count, length);
  return same({1, static_cast<double>(length) * slowness(in.switches.network, in), 0,
               latency_of(in.switches.network)});
}

/// All steps, with pieces of `length` words. Stages that run at the same time share the ports. Stages
/// with messages of their own take at least the longest one's time, and at most the sum of their times.
Interval step_terms(const InNetworkPlan& plan, const CostInput& in, std::int64_t length) {
  const double slow = slowness(in.switches.node, in);
  const double piece = slow * static_cast<double>(length);
  const double chunk = piece * plan.nodes.size;
  const double s = latency_of(in.switches.node);
  const Interval rail = rail_terms(plan, in, length);
  Interval all;
  for (std::int64_t step = 0; step < plan.chunks + plan.last_stage(); ++step) {
    const bool sums = step < plan.chunks;
    const bool along = plan.has_rails() && step >= 1 && step <= plan.chunks;
    const bool copies = step >= plan.last_stage();
    // What a rank sends and what it receives.
    const double up = (sums ? chunk : 0) + (copies ? piece : 0);
    const double down = (sums ? piece : 0) + (copies ? chunk : 0);
    const double messages = (sums ? 1 : 0) + (copies ? 1 : 0);
    const Terms in_node{messages, std::max(up, down), 0, sums || copies ? s : 0};
    if (!along) {
      all = all + same(in_node);
      continue;
    }
    const double longest = std::max(in_node.seconds, rail.high.seconds);
    const double shortest =
        messages > 0 ? std::min(in_node.seconds, rail.low.seconds) : rail.low.seconds;
    Terms low = in_node + rail.low;
    Terms high = in_node + rail.high;
    high.seconds = longest;
    low.seconds = shortest;
    if (!plan.between) {
      high.seconds = in_node.seconds;
      low = {rail.low.messages, rail.low.words, 0, 0};
    }
    all = all + Interval{low, high};
  }
  return all;
}

Cost in_network_cost(const CostInput& given) {
  if (given.ranks == 1) return {.paper = {}, .counted = {}, .added = {}, .exact = true};
  CostInput in = given;
  // Without a platform: switches as fast as the ports.
  if (!in.switches.any())
    in.switches.network = ReducingSwitch{.bandwidth = HUGE_VAL, .latency = {}};
  const InNetworkPlan plan = plan_for(*in.options, in.ranks, in.dense_words(), in.node, in.switches,
                                      in.alpha, in.beta_per_word);
  const int rails = plan.nodes.rails();
  const std::int64_t pieces = plan.chunks * rails;
  const std::int64_t shortest = in.n / pieces;
  const std::int64_t longest = (in.n + pieces - 1) / pieces;
  const bool alike = rails == plan.nodes.size;
  const auto terms = [&](std::int64_t length) {
    if (plan.in_node) return step_terms(plan, in, length);
    const double steps = plan.nodes.size - 1;
    const double words = steps * static_cast<double>(length);
    return rail_terms(plan, in, length) + same({2 * steps, 2 * words, words});
  };
  Interval run{terms(shortest).low, terms(longest).high};
  if (!alike) run.low = {run.low.messages > 0 ? 1.0 : 0.0, static_cast<double>(shortest), 0, 0};
  const auto n = static_cast<double>(in.n);
  Cost cost{.paper = {},
            .counted = {{run.low.messages, n, 0}, {run.high.messages, n, 0}},
            .added = {{0, run.low.words - n, run.low.reduced, run.low.seconds},
                      {0, run.high.words - n, run.high.reduced, run.high.seconds}}};
  cost.exact = run.low.messages == run.high.messages && run.low.words == run.high.words &&
               run.low.reduced == run.high.reduced && run.low.seconds == run.high.seconds;
  return cost;
}

}  // namespace

Seconds in_network_tuner_time(const ReducingSwitches& switches, Nodes nodes, std::int64_t words,
                              Seconds beta_per_word) {
  constexpr Seconds kNvlinkLatency(25e-6);
  constexpr Seconds kNetworkLatency(18e-6);
  const bool several = nodes.count > 1;
  if (!switches.node || nodes.size == 1 || (several && !switches.network)) {
    return Seconds(std::numeric_limits<double>::infinity());
  }
  const auto per_word = [&](const ReducingSwitch& of) {
    return std::max(beta_per_word.value(), 4 / of.bandwidth);
  };
  const auto n = static_cast<double>(words);
  const double g = nodes.size;
  double time = n * (1 + 1 / g) * per_word(*switches.node);
  if (several) time = std::max(time, n / g * per_word(*switches.network));
  return kNvlinkLatency + (several ? kNetworkLatency : Seconds(0)) + Seconds(time);
}

SchemeInfo in_network_scheme() {
  return {.name = "dense_in_network",
          .summary =
              "pieces summed by the switches of nodes, then by those between nodes, and copied "
              "back (NVLS, CollNet)",
          .source = "Graham et al., SHARP (COM-HPC 2016); NVIDIA NCCL, nvls.cc and coll_net.cc",
          .needs = "switches that sum, where P > 1",
          .paper = {.latency = "min(1, P-1)", .words = "n min(1, P-1)", .ours = true},
          .exact_when =
              "all sums are in switches of one latency, node divides P, and the pieces divide n",
          .added = "the switches' latency; chunks, and what a node sends on",
          .dense = true,
          .independent_iterations = true,
          .in_switches = true,
          .options = {node_option(),
                      {.name = kChunks,
                       .fallback = std::int64_t{0},
                       .minimum = 0,
                       .help = "chunks that pass the stages one after another; 0: by α and β",
                       .maximum = kMostChunks}},
          .run_cost = in_network_cost,
          .make = [](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
            if (!setup.switches.any() && setup.ranks > 1) {
              throw InputError(
                  "dense_in_network needs switches that sum, but there are none here: take the "
                  "network links or alphabeta, and a platform whose switches sum ('thinwire topo "
                  "make ... --reducing')");
            }
            return std::make_unique<InNetwork>(setup);
          }};
}

}  // namespace thinwire::algorithms
