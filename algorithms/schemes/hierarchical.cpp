#include "algorithms/schemes/hierarchical.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

class Hierarchical final : public Scheme {
 public:
  Hierarchical(const SchemeSetup& setup, AllreduceSchedule schedule)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        node_(nodes_of(setup.options, setup.ranks).size),
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

/// A flat scheme, as the leaders use it.
struct Flat {
  SchemeInfo info;
  AllreduceSchedule schedule;
};

Cost hierarchical_cost(const CostInput& in, const Flat& flat) {
  const Nodes nodes = nodes_of(*in.options, in.ranks);
  CostInput among = in;
  among.ranks = nodes.count;
  const int last = in.ranks - (nodes.count - 1) * nodes.size;
  const double height = ceil_log2(nodes.size);
  const bool alike = among.ranks == 1 || ceil_log2(last) == height;
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

SchemeInfo entry(std::string name, std::string summary, PaperCost paper, std::string exact_when,
                 const Flat& flat) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Jia et al. (arXiv:1807.11205, 2018), hierarchical all-reduce",
          .paper = std::move(paper),
          .exact_when = std::move(exact_when),
          .added = "those of the scheme among the leaders; ceil(log node) steps within a node",
          .dense = true,
          .options = {node_option()},
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
  const Flat ring{named("dense_ring"), allreduce_ring};
  const Flat rabenseifner{named("dense_rabenseifner"), allreduce_rabenseifner};
  const char* const words = "2n log min(node, P) + 2n (ceil(P/node) - 1)/ceil(P/node)";
  const char* const reduced = "n log min(node, P) + n (ceil(P/node) - 1)/ceil(P/node)";
  return {entry("hierarchical_ring", "binomial trees inside nodes, a ring among their leaders",
                {.latency = "2 log min(node, P) + 2 (ceil(P/node) - 1)",
                 .words = words,
                 .reduced = reduced},
                "node is a power of two and divides P", ring),
          entry("hierarchical_rabenseifner",
                "binomial trees inside nodes, rabenseifner among their leaders",
                {.latency = "2 log min(node, P) + 2 log ceil(P/node)",
                 .words = words,
                 .reduced = reduced},
                "node is a power of two and divides P, and P/node meets the condition of "
                "dense_rabenseifner",
                rabenseifner)};
}

}  // namespace thinwire::algorithms
