#include "algorithms/schemes/dense.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"

namespace thinwire {

namespace {

using Schedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

class DenseScheme final : public Scheme {
 public:
  DenseScheme(const SchemeSetup& setup, Schedule schedule)
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
  Schedule schedule_;
};

Interval same(Terms terms) { return {terms, terms}; }

/// The cost of a schedule for powers of two, at any P: `core` at the power of two below, and two
/// messages of the whole gradient where ranks fold in.
struct Core {
  int ranks;
  double log;
  Terms folding;
};

Core core_of(const CostInput& in) {
  const auto below = std::bit_floor(static_cast<unsigned>(in.ranks));
  const bool folds = std::cmp_not_equal(below, in.ranks);
  return {.ranks = static_cast<int>(below),
          .log = std::log2(static_cast<double>(below)),
          .folding = folds ? Terms{2, 2 * static_cast<double>(in.n)} : Terms{}};
}

/// The paper's formula taken at P, and what is on the critical path of a run.
Cost exact_cost(Terms paper, Terms run) {
  return {.paper = same(paper),
          .counted = same({run.messages, paper.words}),
          .lower_order = same({0, run.words - paper.words}),
          .exact = true};
}

Cost ring_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  const std::int64_t longest = part_begin(in.n, in.ranks, 1);  // the first piece
  return exact_cost({2 * (p - 1), 2 * n * (p - 1) / p},
                    {2 * (p - 1), 2 * (p - 1) * static_cast<double>(longest)});
}

Cost recursive_doubling_cost(const CostInput& in) {
  const Core core = core_of(in);
  const auto n = static_cast<double>(in.n);
  const double log = std::log2(static_cast<double>(in.ranks));
  return exact_cost({log, n * log}, core.folding + Terms{core.log, n * core.log});
}

}  // namespace

Cost rabenseifner_cost(const CostInput& in) {
  const Core core = core_of(in);
  std::int64_t path = 0;
  for (int pieces = core.ranks / 2; pieces > 0; pieces /= 2) {
    path += part_begin(in.n, core.ranks, pieces);
  }
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  const Terms halving{2 * core.log, 2 * static_cast<double>(path)};
  Cost cost = exact_cost({2 * std::log2(p), 2 * n * (p - 1) / p}, core.folding + halving);
  if (std::cmp_not_equal(core.ranks, in.ranks)) {
    // Folding in makes some ranks late. Messages for later steps may come to their ports first, and
    // all later messages together are no longer than that of the step.
    cost.exact = false;
    cost.lower_order.high = cost.lower_order.high + halving;
  }
  return cost;
}

std::vector<SchemeInfo> dense_schemes() {
  const auto entry = [](std::string name, std::string summary, std::string source,
                        std::string latency, std::string bandwidth, Cost (*cost)(const CostInput&),
                        Schedule schedule) {
    return SchemeInfo{.name = std::move(name),
                      .summary = std::move(summary),
                      .source = std::move(source),
                      .latency = std::move(latency),
                      .bandwidth = std::move(bandwidth),
                      .dense = true,
                      .options = {},
                      .restriction = [](int, std::int64_t) { return std::nullopt; },
                      .cost = cost,
                      .make = [schedule](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
                        return std::make_unique<DenseScheme>(setup, schedule);
                      }};
  };
  return {
      entry("dense_rabenseifner", "reduce-scatter by halving, allgather by doubling",
            "Ok-Topk (PPoPP 2022), Table 1, Dense", "2 log P", "2n (P-1)/P", rabenseifner_cost,
            allreduce_rabenseifner),
      entry("dense_ring", "reduce-scatter and allgather around a ring",
            "SparCML (SC 2019), section 5.3", "2 (P-1)", "2n (P-1)/P", ring_cost, allreduce_ring),
      entry("dense_recursive_doubling", "exchange of whole gradients with rank ^ 1, 2, 4 ...",
            "Thakur, Rabenseifner, Gropp (IJHPCA 2005)", "log P", "n log P",
            recursive_doubling_cost, allreduce_recursive_doubling)};
}

}  // namespace thinwire
