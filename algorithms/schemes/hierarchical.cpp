#include "algorithms/schemes/hierarchical.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire {

namespace {

const OptionInfo kNodeOption{"node", std::int64_t{8}, 1,
                             "ranks of a node, which follow one another"};

using Schedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

class Hierarchical final : public Scheme {
 public:
  Hierarchical(const SchemeSetup& setup, Schedule schedule)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        // A node of more ranks than there are is a node of them all.
        node_(static_cast<int>(std::min<std::int64_t>(setup.options.integer("node"), setup.ranks))),
        among_leaders_([this, schedule](Communicator& leaders, Message sum) {
          return schedule(leaders, std::move(sum), reduction_);
        }) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const Message total = co_await allreduce_hierarchical(comm, node_, message_of(gradient, space_),
                                                          reduction_, among_leaders_);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  int node_;
  AmongLeaders among_leaders_;
};

/// A flat scheme as the leaders use it.
struct Flat {
  SchemeInfo info;
  Schedule schedule;
  /// What a run takes where one leader is ready too early.
  std::function<Interval(const CostInput&)> early;
};

double ceil_log2(int ranks) {
  return static_cast<double>(std::bit_width(static_cast<unsigned>(ranks) - 1));
}

Interval run_of(const Cost& cost) { return cost.counted + cost.lower_order; }

Cost hierarchical_cost(const CostInput& in, const Flat& flat) {
  const auto node = static_cast<int>(std::min<std::int64_t>(in.options->integer("node"), in.ranks));
  CostInput among = in;
  among.ranks = (in.ranks - 1) / node + 1;
  const int last = in.ranks - (among.ranks - 1) * node;
  const double height = ceil_log2(node);
  const bool alike = among.ranks == 1 || ceil_log2(last) == height;
  const Cost cost = flat.info.cost(among);
  const Interval leaders = alike ? run_of(cost) : flat.early(among);

  const auto n = static_cast<double>(in.n);
  const double log = std::log2(static_cast<double>(node));
  const auto in_nodes = [n](double messages, double words, double reduced) {
    return Terms{2 * messages, 2 * n * words, n * reduced};
  };
  const Interval counted = cost.counted + same(in_nodes(height, log, log));
  // Sums may hide behind messages where the tree is not full, but for the last.
  const double least = height == log ? height : 1;
  const Interval trees{in_nodes(height, height, least), in_nodes(height, height, height)};
  const Interval run = leaders + trees;
  return {.paper = {},
          .counted = counted,
          .lower_order = {run.low + (-1.0) * counted.low, run.high + (-1.0) * counted.high},
          .exact = cost.exact && alike};
}

SchemeInfo entry(std::string name, std::string summary, PaperCost paper, std::string exact_when,
                 const Flat& flat) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Jia et al. (arXiv:1807.11205, 2018), hierarchical all-reduce",
          .paper = std::move(paper),
          .exact_when = std::move(exact_when),
          .lower_order = "those of the scheme among leaders; ceil(log node) steps",
          .dense = true,
          .options = {kNodeOption},
          .run_cost = [flat](const CostInput& in) { return hierarchical_cost(in, flat); },
          .make = [schedule = flat.schedule](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
            return std::make_unique<Hierarchical>(setup, schedule);
          }};
}

}  // namespace

std::vector<SchemeInfo> hierarchical_schemes() {
  const std::vector<SchemeInfo> dense = dense_schemes();
  const auto named = [&](const char* name) {
    return *std::ranges::find(dense, name, &SchemeInfo::name);
  };
  Flat ring{named("dense_ring"), allreduce_ring, {}};
  ring.early = [info = ring.info](const CostInput& in) {
    // The longest piece starts at rank 0 and ends at the last but one, neither of them early. The
    // early one's first message may come to rank 0 too soon.
    Interval run = run_of(info.cost(in));
    const auto longest = static_cast<double>(part_begin(in.n, in.ranks, 1));
    run.high = run.high + Terms{1, longest, longest};
    return run;
  };
  Flat rabenseifner{named("dense_rabenseifner"), allreduce_rabenseifner, {}};
  rabenseifner.early = [info = rabenseifner.info](const CostInput& in) {
    const Interval run = run_of(info.cost(in));
    // The chain that begins at rank 0 and ends there is of the shortest pieces at the least.
    CostInput shortest = in;
    shortest.n -= in.n % std::bit_floor(static_cast<unsigned>(in.ranks));
    return Interval{run_of(info.cost(shortest)).low, run.high + run.low};
  };
  const char* const words = "2n log min(node, P) + 2n (ceil(P/node) - 1)/ceil(P/node)";
  const char* const reduced = "n log min(node, P) + n (ceil(P/node) - 1)/ceil(P/node)";
  return {entry("hierarchical_ring", "binomial trees inside nodes, a ring among their leaders",
                {.latency = "2 log min(node, P) + 2 (ceil(P/node) - 1)",
                 .words = words,
                 .reduced = reduced},
                "node is a power of two and the last node is as high", ring),
          entry("hierarchical_rabenseifner",
                "binomial trees inside nodes, rabenseifner among their leaders",
                {.latency = "2 log min(node, P) + 2 log ceil(P/node)",
                 .words = words,
                 .reduced = reduced},
                "node and the number of nodes are powers of two and the last node is as high",
                rabenseifner)};
}

}  // namespace thinwire
