#include "algorithms/schemes/exdyna.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/shared_values.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

class SharedIndexes final : public SparseCollective {
 public:
  explicit SharedIndexes(const SchemeSetup& setup) : setup_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    if (sparsifier.decides()) {
      const auto phase = comm.phase("allocation");
      const Rank leader((iteration - 1) % setup_.ranks);
      Message decision;
      if (comm.rank() == leader) decision = sparsifier.decide(accumulated, iteration).message();
      decision = co_await broadcast(comm, leader, std::move(decision));
      sparsifier.follow(Numbers::from(decision.payload));
    }
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    const auto count = static_cast<std::int64_t>(selected.size());
    const std::optional<std::int64_t> fixed = sparsifier.fixed_count();
    std::int64_t largest = fixed.value_or(0);
    std::int64_t total = largest * setup_.ranks;
    if (!fixed) {
      const auto phase = comm.phase("sizes");
      const Numbers counts = co_await allgather_sizes(comm, count, *setup_.shared);
      sparsifier.observe(counts, iteration);
      largest = counts.largest();
      total = counts.total();
    }
    SparseVector indexes;
    Words own;
    {
      const auto phase = comm.phase("indexes");
      const std::int64_t sent = setup_.options.flag("padded") ? largest : count;
      const Message mine{selected.payload(), setup_.space.index_words(sent * setup_.space.granule)};
      own = mine.words;
      const Concatenation all = co_await allgather(comm, mine);
      // Lists of disjoint parts need no merge: they are copied in turn.
      const WorkPrices& prices = setup_.prices;
      const Price& price = selection.own_part ? prices.scan : prices.unite;
      co_await comm.compute(price.of(total * setup_.space.granule));
      indexes = sum_of_gathered(all, *setup_.shared);
    }
    const auto phase = comm.phase("values");
    Task<Reduced> task =
        allreduce_values_at(comm, std::move(indexes), std::move(accumulated), setup_);
    Reduced reduced = co_await std::move(task);
    reduced.sent += own;
    co_return reduced;
  }

 private:
  const SchemeSetup& setup_;
};

/// What costs depend on in the sparsifier.
struct Selecting {
  bool partitioned = false;  ///< each rank selects in a part of its own
  bool fixed_count = false;  ///< and k on every rank, so that no sizes are gathered
  std::int64_t decided = 0;  ///< words that a rank broadcasts before all select
};

Cost shared_indexes_cost(const CostInput& in, Selecting selecting) {
  if (in.ranks == 1) return {.paper = {}, .counted = {}, .added = {}, .exact = true};
  const bool partitioned = selecting.partitioned;
  const double p = in.ranks;
  const double steps = ceil_log2(in.ranks);
  const auto total = in.selected ? static_cast<double>(in.selected->total)
                                 : static_cast<double>(in.k) * (partitioned ? 1 : p);
  const bool padded = in.options->flag("padded");
  double largest =
      in.selected || !partitioned ? in.most() : std::ceil(static_cast<double>(in.k) / p);
  // Where fewer are not zero, a fixed number is still sent.
  if (padded && selecting.fixed_count) largest = std::max(largest, static_cast<double>(in.k));
  const double smallest = padded ? largest : in.least();
  // The size of the union if a run is known, otherwise its bounds.
  const bool known = in.result.has_value();
  const double union_high =
      known ? static_cast<double>(*in.result) : std::min(total, static_cast<double>(in.n));
  const double union_low = known || partitioned ? union_high : largest;
  const double log = std::log2(p);
  const auto indexes_and_values = [&](double indexes, double values) {
    const double share = in.precision.value() * values * (p - 1) / p;
    return Terms{steps + 2 * log, in.precision.index() * indexes * (p - 1) + 2 * share, share};
  };
  const auto beyond = [&](double values, Terms run) {
    const double share = in.precision.value() * values * (p - 1) / p;
    const Terms sizes = selecting.fixed_count ? Terms{} : Terms{steps, p - 1, 0};
    const auto decided = static_cast<double>(selecting.decided);
    const Terms decision = decided == 0 ? Terms{} : Terms{steps, steps * decided, 0};
    return decision + sizes + run + (-1.0) * Terms{2 * log, 2 * share, share};
  };
  const auto run = [&](double values) {
    return rabenseifner_terms(in.ranks, static_cast<std::int64_t>(values), in.precision);
  };
  Cost cost;
  cost.counted = {indexes_and_values(smallest, union_low), indexes_and_values(largest, union_high)};
  cost.added = {beyond(union_low, run(union_low).low), beyond(union_high, run(union_high).high)};
  // Ranks leave the allgather one after another, which may compensate a remainder.
  const bool power = std::has_single_bit(static_cast<unsigned>(in.ranks));
  if (!power) cost.added.low.words -= 2 * log;
  const bool even = padded || in.even();
  cost.exact = partitioned && even && power;
  return cost;
}

/// Costs and formulas depend on the sparsifier: each rank selects in its own part, or anywhere.
SchemeInfo with_costs(SchemeInfo info) {
  const bool partitioned = info.sparsifier_needs == Needs::values_of_all;
  info.selects_together = partitioned;
  info.paper = {.latency = "3 log P",
                .words = partitioned ? "k/P (P-1) + 2k (P-1)/P" : "k (P-1) + 2k (P-1)/P",
                .words_high = partitioned ? "" : "k (P-1) + 2 min(k P, n) (P-1)/P",
                .reduced = "k (P-1)/P",
                .reduced_high = partitioned ? "" : "min(k P, n) (P-1)/P",
                .ours = true};
  info.exact_when = partitioned ? "P is a power of two"
                                : "the size of the union is known, and P is a power of two";
  info.added = info.fixed_count ? "" : "sizes: ceil(log P) messages and P-1 words; ";
  info.added += "remainders; folding in";
  if (info.decided) info.added += "; what a rank decides: ceil(log P) messages of so many words";
  info.run_cost = [partitioned, fixed_count = info.fixed_count,
                   decided = info.decided](const CostInput& in) {
    const std::span<const std::int64_t> tensors =
        in.tensors == nullptr ? std::span<const std::int64_t>() : std::span(*in.tensors);
    return shared_indexes_cost(in, {.partitioned = partitioned,
                                    .fixed_count = fixed_count,
                                    .decided = decided ? decided(in.ranks, in.n, tensors) : 0});
  };
  return info;
}

}  // namespace

SchemeInfo shared_indexes_scheme(std::string name) {
  const OptionInfo padded{"padded", true, 0,
                          "indexes are padded to the most that a rank selected, as NCCL needs it"};
  return {
      .name = std::move(name),
      .independent_iterations = true,
      .options = {padded},
      .collective = [](const SchemeSetup& setup) { return std::make_unique<SharedIndexes>(setup); },
      .decorate = with_costs,
      .carries_values_of_all = true,
      .padding_factor = padding_factor,
      .padded_elements = padded_elements};
}

double padding_factor(int ranks, std::int64_t most, std::int64_t total) {
  if (total == 0) return 1;
  return static_cast<double>(ranks) * static_cast<double>(most) / static_cast<double>(total);
}

std::int64_t padded_elements(int ranks, std::int64_t most, std::int64_t total) {
  return ranks * (ranks * most - total);
}

}  // namespace thinwire::algorithms
