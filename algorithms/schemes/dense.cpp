#include "algorithms/schemes/dense.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"

namespace thinwire::algorithms {

namespace {

class DenseScheme final : public Scheme {
 public:
  DenseScheme(const SchemeSetup& setup, AllreduceSchedule schedule)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase("allreduce");
    const Message total = co_await schedule_(comm, message_of(gradient, space_), reduction_);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  AllreduceSchedule schedule_;
};

/// The cost of a schedule for powers of two, extended to any P: that of `ranks`, the power of two
/// below P, and two messages of the whole gradient when ranks fold in.
struct CoreCost {
  int ranks;
  double log;
  Terms folding;  ///< including one sum of the whole gradient
};

CoreCost core_cost(int ranks, std::int64_t words) {
  const auto below = std::bit_floor(static_cast<unsigned>(ranks));
  const bool folds = std::cmp_not_equal(below, ranks);
  const auto n = static_cast<double>(words);
  return {.ranks = static_cast<int>(below),
          .log = std::log2(static_cast<double>(below)),
          .folding = folds ? Terms{2, 2 * n, n} : Terms{}};
}

/// The paper's formula at P, and the terms on the critical path of a run.
Cost exact_cost(Terms paper, Terms run) {
  return {.paper = {},
          .counted = same({run.messages, paper.words, 0}),
          .added = same({0, run.words - paper.words, run.reduced - paper.reduced}),
          .exact = true};
}

Cost rabenseifner_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  const Interval run = rabenseifner_terms(in.ranks, in.n);
  Cost cost = exact_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, run.low);
  cost.added.high = cost.added.high + run.high + (-1.0) * run.low;
  cost.exact = rabenseifner_is_exact(in.ranks, in.n);
  return cost;
}

Cost ring_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  return exact_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, ring_terms(in.ranks, in.n).low);
}

Cost recursive_doubling_cost(const CostInput& in) {
  const CoreCost core = core_cost(in.ranks, in.n);
  const auto n = static_cast<double>(in.n);
  const double log = std::log2(static_cast<double>(in.ranks));
  return exact_cost({0, n * log, n * log},
                    core.folding + Terms{core.log, n * core.log, n * core.log});
}

}  // namespace

Interval ring_terms(int ranks, std::int64_t words) {
  const std::int64_t longest = part_begin(words, ranks, 1);  // the first piece
  const double path = (ranks - 1) * static_cast<double>(longest);
  return same({2.0 * (ranks - 1), 2 * path, path});
}

Interval rabenseifner_terms(int ranks, std::int64_t words) {
  const CoreCost core = core_cost(ranks, words);
  std::int64_t path = 0;
  for (int pieces = core.ranks / 2; pieces > 0; pieces /= 2) {
    path += part_begin(words, core.ranks, pieces);
  }
  const Terms halving{2 * core.log, 2 * static_cast<double>(path), static_cast<double>(path)};
  Interval terms = same(core.folding + halving);
  if (core.ranks != ranks) {
    // The ranks that receive a folded value may have the shorter pieces to sum.
    const std::int64_t shortest = words / core.ranks;
    terms.low.reduced = core.folding.reduced + static_cast<double>(shortest * (core.ranks - 1));
  }
  return terms;
}

bool rabenseifner_is_exact(int ranks, std::int64_t words) {
  const CoreCost core = core_cost(ranks, words);
  return core.ranks == ranks || words % core.ranks == 0;
}

std::vector<SchemeInfo> dense_schemes() {
  const auto entry = [](std::string name, std::string summary, std::string source, PaperCost paper,
                        std::string exact_when, Cost (*cost)(const CostInput&),
                        AllreduceSchedule schedule) {
    return SchemeInfo{.name = std::move(name),
                      .summary = std::move(summary),
                      .source = std::move(source),
                      .paper = std::move(paper),
                      .exact_when = std::move(exact_when),
                      .added = "remainders of the pieces; folding in",
                      .dense = true,
                      .run_cost = cost,
                      .make = [schedule](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
                        return std::make_unique<DenseScheme>(setup, schedule);
                      }};
  };
  return {entry("dense_rabenseifner", "reduce-scatter by halving, allgather by doubling",
                "Ok-Topk (PPoPP 2022), Table 1, Dense",
                {.latency = "2 log P", .words = "2n (P-1)/P", .reduced = "n (P-1)/P"},
                "P is a power of two, or the largest one below P divides n", rabenseifner_cost,
                allreduce_rabenseifner),
          entry("dense_ring", "reduce-scatter and allgather around a ring",
                "SparCML (SC 2019), section 5.3",
                {.latency = "2 (P-1)", .words = "2n (P-1)/P", .reduced = "n (P-1)/P"}, "always",
                ring_cost, allreduce_ring),
          entry("dense_recursive_doubling", "exchange of whole gradients with rank ^ 1, 2, 4 ...",
                "Thakur, Rabenseifner, Gropp (IJHPCA 2005)",
                {.latency = "log P", .words = "n log P", .reduced = "n log P"}, "always",
                recursive_doubling_cost, allreduce_recursive_doubling)};
}

}  // namespace thinwire::algorithms
