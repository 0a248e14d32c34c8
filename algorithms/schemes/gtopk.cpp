// gtopk: a reduction tree that selects the k largest entries again at each level, then a broadcast
// tree (Shi et al., ICDCS 2019; Ok-Topk, Table 1).
//
// Schedule: binomial tree to rank 0 (ranks from 2^s on send to rank - 2^s, for falling s); the
// receiver adds the message to its own vector and keeps the k largest of the sum. Then a binomial
// broadcast. The local entries whose index is in the result count as contributed, as in the paper:
// an entry that was dropped on the way is lost when others brought its index into the result.
// Cost: 2 log P α + 4k log P β; 2 ceil(log P) messages. Exact at powers of two if every rank
// selects k and every sum has k; at other P all but the last γ may hide behind messages.
// Restrictions: none (the published code: powers of two). Memory: one selection per rank.
//
// Worked example: P = 8, k = 1000: 3 messages of 2000 words up, 3 down: 6 α + 12,000 β.
#include "algorithms/schemes/schemes.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/reduce.hpp"
#include "algorithms/decoding.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// Reduces two vectors to the k largest entries of their sum.
class TopkReduction final : public Reduction {
 public:
  explicit TopkReduction(const SchemeSetup& setup)
      : Reduction(*setup.shared, setup.gamma), setup_(setup) {}

  [[nodiscard]] Message cut(const Message& /*held*/, PieceRange /*wanted*/,
                            int /*pieces*/) const override {
    throw SimulationError("the k largest of a sum cannot be cut");
  }

 protected:
  [[nodiscard]] Message compute_sum(const Message& a, const Message& b,
                                    Part /*part*/) const override {
    const SparseVector both =
        thinwire::sum(SparseVector::from(a.payload), SparseVector::from(b.payload));
    return select_largest(both, setup_.carried_k()).message(setup_.space);
  }
  [[nodiscard]] Message compute_join(std::span<const Message> /*parts*/,
                                     Part /*whole*/) const override {
    throw SimulationError("the k largest of a sum cannot be joined");
  }
  [[nodiscard]] Seconds work(const Message& /*a*/, const Message& b,
                             const Message& /*sum*/) const override {
    const std::int64_t entries = setup_.components_in(SparseVector::from(b.payload));
    return gamma().entry * static_cast<double>(entries) + setup_.prices.sort.of(2 * entries);
  }

 private:
  const SchemeSetup& setup_;
};

class GTopk final : public SparseCollective {
 public:
  explicit GTopk(const SchemeSetup& setup) : setup_(setup), reduction_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    Message held = selected.message(setup_.space);
    {
      const auto phase = comm.phase("reduce");
      held = co_await reduce(comm, Rank(0), std::move(held), reduction_);
    }
    const auto phase = comm.phase("broadcast");
    held = co_await broadcast(comm, Rank(0), std::move(held));
    const SparseVector result = SparseVector::from(held.payload);
    co_await comm.compute(intersecting(setup_.prices, setup_.space.components,
                                       setup_.components_in(selected),
                                       setup_.components_in(result)));
    co_return Reduced{.sum = result, .contributed = intersect(selected, result)};
  }

 private:
  const SchemeSetup& setup_;
  TopkReduction reduction_;
};

Cost gtopk_cost(const CostInput& in) {
  const double steps = ceil_log2(in.ranks);
  const double log = std::log2(static_cast<double>(in.ranks));
  const auto counted = [&](double k) { return Terms{2 * steps, 2 * in.entry() * k * steps, 0}; };
  const bool power = steps == log;
  // At other P all sums except the last may overlap with messages that arrive meanwhile.
  const Terms hidden{0, 0, power ? 0 : in.least() * (1 - log)};
  const Terms rounded_up{0, 0, in.most() * (steps - log)};
  return {.paper = {},
          .counted = {counted(in.least()), counted(in.most())},
          .added = {hidden, rounded_up},
          .exact = power && in.even()};
}

}  // namespace

SchemeInfo gtopk_scheme() {
  return {
      .name = "gtopk",
      .summary = "binomial tree to rank 0 that keeps the k largest of each sum; binomial broadcast",
      .source = "Ok-Topk (PPoPP 2022), Table 1, gTopk; Shi et al. (ICDCS 2019)",
      .paper = {.latency = "2 log P", .words = "4k log P", .reduced = "k log P"},
      .exact_when = "P is a power of two, all ranks select k, and so do all sums",
      .independent_iterations = true,
      .run_cost = gtopk_cost,
      .collective = [](const SchemeSetup& setup) { return std::make_unique<GTopk>(setup); },
      .selects_result = true,
      .drops_partial_sums = true};
}

}  // namespace thinwire::algorithms
