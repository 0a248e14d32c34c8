// cltk: cyclic local top-k (Chen et al., ScaleCom, NeurIPS 2020; ExDyna, section III). One rank,
// the leader, selects while the others wait; its indexes are broadcast, and then all ranks add
// their values there.
//
// Schedule of iteration t: rank (t-1) mod P selects; binomial broadcast of its k indexes, one word
// each; Rabenseifner's allreduce of the k values.
// Cost: ceil(log P) (α + kβ) + 2 log P α + 2k (P-1)/P β; exact at powers of two.
// Restrictions: none. Memory: k indexes and values per rank.
//
// Worked example: P = 4, k = 1000: 2 α + 2000 β for the indexes, 4 α + 1500 β for the values.
#include "algorithms/schemes/schemes.hpp"

#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/shared_values.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

class CyclicLeader final : public SparseCollective {
 public:
  explicit CyclicLeader(const SchemeSetup& setup) : setup_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Rank leader((iteration - 1) % setup_.ranks);
    Message indexes;
    if (comm.rank() == leader) {
      const Selection selection =
          co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
      const SparseVector& selected = selection.selected;
      indexes = {selected.payload(),
                 setup_.space.index_words(static_cast<std::int64_t>(selected.size()) *
                                          setup_.space.granule)};
    }
    {
      const auto phase = comm.phase("indexes");
      indexes = co_await broadcast(comm, leader, std::move(indexes));
    }
    const auto phase = comm.phase("values");
    const SparseVector chosen = SparseVector::from(indexes.payload);
    Task<Reduced> task = allreduce_values_at(comm, chosen, std::move(accumulated), setup_);
    Reduced reduced = co_await std::move(task);
    if (comm.rank() == leader) reduced.sent += indexes.words;
    co_return reduced;
  }

 private:
  const SchemeSetup& setup_;
};

Cost cltk_cost(const CostInput& in) {
  if (in.ranks == 1) return {.paper = {}, .counted = {}, .added = {}, .exact = true};
  const double p = in.ranks;
  // Only the leader selects.
  const double k = in.most();
  const double steps = ceil_log2(in.ranks);
  const double log = std::log2(p);
  const double value = in.precision.value();
  const double share = value * k * (p - 1) / p;
  Cost cost;
  cost.counted = same({steps + 2 * log, in.precision.index() * k * steps + 2 * share, share});
  const Interval values = rabenseifner_terms(in.ranks, static_cast<std::int64_t>(k), in.precision);
  const Terms counted_values{2 * log, 2 * share, share};
  cost.added = values + same((-1.0) * counted_values);
  // Ranks leave the broadcast one after another, which may hide folding in and remainders.
  if (values.low.messages != 2 * log) {
    const auto q = static_cast<double>(std::bit_floor(static_cast<unsigned>(in.ranks)));
    const Terms core{2 * std::log2(q), 2 * value * std::floor(k / q) * (q - 1),
                     value * std::floor(k / q) * (q - 1)};
    cost.added.low = core + (-1.0) * counted_values;
  }
  cost.exact = std::has_single_bit(static_cast<unsigned>(in.ranks));
  return cost;
}

}  // namespace

SchemeInfo cltk_scheme() {
  return {
      .name = "cltk",
      .summary =
          "broadcast of one rank's top-k indexes, each rank in its turn; allreduce of all "
          "values there",
      .source = "ExDyna (2024), section III; ScaleCom (NeurIPS 2020)",
      .paper = {.latency = "3 log P",
                .words = "k log P + 2k (P-1)/P",
                .reduced = "k (P-1)/P",
                .ours = true},
      .exact_when = "P is a power of two",
      .added = "remainders; folding in",
      .independent_iterations = true,
      .run_cost = cltk_cost,
      .collective = [](const SchemeSetup& setup) { return std::make_unique<CyclicLeader>(setup); },
      .one_selects = true};
}

}  // namespace thinwire::algorithms
