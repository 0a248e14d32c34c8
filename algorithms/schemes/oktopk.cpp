#include "algorithms/schemes/oktopk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/direct_exchange.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"

namespace thinwire {

namespace {

/// The P+1 coordinates at which regions begin and end.
using Boundaries = Numbers;

Boundaries equal_regions(const SchemeSetup& setup) {
  const Message shared = setup.shared->once("equal regions", std::span<const Message>(), [&] {
    const GradientSpace& space = setup.space;
    std::vector<std::int64_t> cuts;
    for (int i = 0; i <= setup.ranks; ++i) {
      cuts.push_back(space.coordinate(part_begin(space.components, setup.ranks, i)));
    }
    return Boundaries(std::move(cuts)).message();
  });
  return Boundaries::from(shared.payload);
}

/// The P ends of regions that hold equally much of the selection; equal regions where nothing is
/// selected. An end between two entries lies between their coordinates in proportion, so that
/// regions of few entries come out balanced once the ranks' ends are averaged.
Numbers local_ends(const SparseVector& selected, int ranks, const GradientSpace& space) {
  const auto entries = selected.entries();
  const auto coordinate_of = [&](std::size_t position) {
    return position < entries.size() ? std::int64_t{entries[position].coordinate}
                                     : space.coordinates();
  };
  std::vector<std::int64_t> ends;
  for (int i = 1; i <= ranks; ++i) {
    if (entries.empty()) {
      ends.push_back(space.coordinate(part_begin(space.components, ranks, i)));
      continue;
    }
    const double position = static_cast<double>(entries.size()) * i / ranks;
    const auto below = static_cast<std::size_t>(position);
    const std::int64_t low = coordinate_of(below);
    const auto step = static_cast<double>(coordinate_of(below + 1) - low);
    ends.push_back(low + std::llround((position - static_cast<double>(below)) * step));
  }
  return Numbers(std::move(ends));
}

/// The mean of the ranks' ends, given their sum.
Boundaries mean_boundaries(std::span<const std::int64_t> sums, int ranks) {
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t sum : sums) cuts.push_back(sum / ranks);
  return Boundaries(std::move(cuts));
}

/// One rank's part of split_and_reduce: cuts its selection by region, sums what comes for its own.
class SplitAndReduce final : public Exchange {
 public:
  SplitAndReduce(const SparseVector& selected, const Boundaries& boundaries, Rank own,
                 const SchemeSetup& setup)
      : selected_(selected), setup_(setup), region_(region(boundaries, own)) {
    positions_.reserve(boundaries.size());
    std::size_t position = 0;
    for (const std::int64_t cut : boundaries.all()) {
      position = selected.position_of(static_cast<std::uint32_t>(cut), position);
      positions_.push_back(static_cast<std::uint32_t>(position));
    }
    region_.add(slice(own));
  }

  [[nodiscard]] Message outgoing(Rank to) override { return slice(to).message(setup_.space); }

  [[nodiscard]] Seconds incoming(Rank /*from*/, Message message) override {
    region_.add(SparseVector::from(message.payload));
    const std::int64_t values = message.words.value() / 2;
    return setup_.gamma * static_cast<double>(values);
  }

  [[nodiscard]] SparseVector finish() { return region_.finish(); }

 private:
  static SparseAccumulator region(const Boundaries& boundaries, Rank own) {
    const auto at = static_cast<std::size_t>(own.value());
    return {static_cast<std::uint32_t>(boundaries[at]),
            static_cast<std::uint32_t>(boundaries[at + 1])};
  }
  [[nodiscard]] SparseVector slice(Rank of) const {
    const auto at = static_cast<std::size_t>(of.value());
    return selected_.slice(positions_[at], positions_[at + 1]);
  }

  const SparseVector& selected_;
  const SchemeSetup& setup_;
  std::vector<std::uint32_t> positions_;
  SparseAccumulator region_;
};

class OkTopk final : public Scheme {
 public:
  explicit OkTopk(const SchemeSetup& setup)
      : setup_(setup),
        numbers_(*setup.shared),
        local_(setup.options.integer("tau_prime")),
        global_(setup.options.integer("tau_prime")),
        boundaries_(equal_regions(setup)) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const SparseVector selected = select_local(std::get<SparseVector>(gradient), iteration);
    gradient = SparseVector();
    if (repartitions(iteration)) co_await repartition(comm, selected);
    const SparseVector reduced = co_await split_and_reduce(comm, selected);
    if (global_.exact_in(iteration)) co_await set_global_threshold(comm, reduced);
    const SparseVector result = co_await balance_and_allgather(comm, global_.select(reduced));
    co_return Reduced{.sum = result, .contributed = intersect(selected, result)};
  }

 private:
  [[nodiscard]] bool repartitions(int iteration) const {
    return setup_.options.flag("balanced_split") &&
           (iteration - 1) % setup_.options.integer("tau") == 0;
  }

  SparseVector select_local(const SparseVector& gradient, int iteration) {
    if (local_.exact_in(iteration)) {
      local_.set_threshold(kth_magnitude(gradient, setup_.carried_k()));
    }
    return local_.select(gradient);
  }

  Task<void> repartition(Communicator& comm, const SparseVector& selected) {
    const auto phase = comm.phase("repartition");
    const Message ends = local_ends(selected, setup_.ranks, setup_.space).message();
    const Message sums = co_await allreduce_recursive_doubling(comm, ends, numbers_);
    const std::array inputs{sums};
    const Message mean = setup_.shared->once("boundaries", inputs, [&] {
      return mean_boundaries(Numbers::from(sums.payload).all(), setup_.ranks).message();
    });
    boundaries_ = Boundaries::from(mean.payload);
  }

  Task<SparseVector> split_and_reduce(Communicator& comm, const SparseVector& selected) {
    const auto phase = comm.phase("split_and_reduce");
    SplitAndReduce exchange(selected, boundaries_, comm.rank(), setup_);
    const ExchangeOrder order{.rotated = setup_.options.flag("rotation"),
                              .bucket = static_cast<int>(std::min<std::int64_t>(
                                  setup_.options.integer("bucket"), setup_.ranks)),
                              .sliding = setup_.options.flag("sliding")};
    co_await direct_exchange(comm, exchange, order);
    co_return exchange.finish();
  }

  Task<void> set_global_threshold(Communicator& comm, const SparseVector& reduced) {
    const auto phase = comm.phase("global_threshold");
    const Concatenation all = co_await allgather(comm, reduced.message(setup_.space));
    const std::array inputs{all.message()};
    const Message threshold = setup_.shared->once("global threshold", all.contents(), inputs, [&] {
      const SparseVector vector = concatenation_of_gathered(all, *setup_.shared);
      const float kth = kth_magnitude(vector, setup_.carried_k());
      return Numbers({std::bit_cast<std::int32_t>(kth)}).message();
    });
    const auto bits = static_cast<std::int32_t>(Numbers::from(threshold.payload)[0]);
    global_.set_threshold(std::bit_cast<float>(bits));
  }

  Task<SparseVector> balance_and_allgather(Communicator& comm, SparseVector mine) {
    const Numbers sizes = co_await gather_sizes(comm, mine);
    if (must_balance(sizes)) mine = co_await balance(comm, std::move(mine), sizes);
    const auto phase = comm.phase("allgatherv");
    const Concatenation all = co_await allgather(comm, mine.message(setup_.space));
    co_return concatenation_of_gathered(all, *setup_.shared);
  }

  Task<Numbers> gather_sizes(Communicator& comm, const SparseVector& mine) const {
    const auto phase = comm.phase("sizes");
    const Message size = Numbers({static_cast<std::int64_t>(mine.size())}).message();
    const Concatenation all = co_await allgather(comm, size);
    co_return numbers_of_gathered(all, *setup_.shared);
  }

  [[nodiscard]] bool must_balance(const Numbers& sizes) const {
    const std::int64_t largest = std::ranges::max(sizes.all());
    const double mean = static_cast<double>(sizes.total()) / setup_.ranks;
    return setup_.options.flag("balancing") &&
           static_cast<double>(largest) > setup_.options.number("trigger") * mean;
  }

  /// Moves entries so that rank i holds part i of all of them in the order of the ranks. Everybody
  /// knows all sizes, so nothing has to be asked for.
  Task<SparseVector> balance(Communicator& comm, SparseVector mine, Numbers sizes) {
    const auto phase = comm.phase("balance");
    const int rank = comm.rank().value();
    const std::int64_t total = sizes.total();
    const auto target = [&](int r) { return part_begin(total, setup_.ranks, r); };
    const auto until = sizes.all().begin() + rank;
    const std::int64_t first = std::accumulate(sizes.all().begin(), until, std::int64_t{0});
    const std::int64_t last = first + sizes[static_cast<std::size_t>(rank)];

    std::vector<Rank> sources;
    std::vector<Request> requests;
    std::int64_t begin = 0;
    for (int from = 0; from < setup_.ranks; ++from) {
      const std::int64_t end = begin + sizes[static_cast<std::size_t>(from)];
      if (std::max(begin, target(rank)) < std::min(end, target(rank + 1))) {
        sources.emplace_back(from);
        if (from != rank) requests.push_back(comm.irecv(Rank(from), kBalanceTag));
      }
      begin = end;
    }
    SparseVector kept;
    for (int step = 0; step < setup_.ranks; ++step) {
      const int to = (rank + step) % setup_.ranks;
      const std::int64_t low = std::max(first, target(to));
      const std::int64_t high = std::min(last, target(to + 1));
      if (low >= high) continue;
      const SparseVector part =
          mine.slice(static_cast<std::size_t>(low - first), static_cast<std::size_t>(high - first));
      if (to == rank) {
        kept = part;
      } else {
        requests.push_back(comm.isend(Rank(to), kBalanceTag, part.message(setup_.space)));
      }
    }
    const std::vector<Message> received = co_await comm.wait_all(requests);
    std::vector<SparseVector> parts;
    std::size_t next = 0;
    for (const Rank from : sources) {
      parts.push_back(from.value() == rank ? kept : SparseVector::from(received[next++].payload));
    }
    co_return concatenate(parts);
  }

  const SchemeSetup& setup_;
  NumbersReduction numbers_;
  ThresholdReuse local_;
  ThresholdReuse global_;
  Boundaries boundaries_;
};

Cost oktopk_cost(const CostInput& in) {
  const Options& options = *in.options;
  const double p = in.ranks;
  const auto k = static_cast<double>(in.k);
  const double log = std::log2(p);
  const double steps = std::ceil(log);
  const double share = k * (p - 1) / p;

  // Upper ends, phase by phase; a variant that switches an optimisation off has a higher one.
  Terms split{p - 1, 2 * share};
  if (!options.flag("balanced_split")) split.words = 2 * k * (p - 1);
  const Terms split_high =
      options.flag("rotation") ? split : Terms{4 * split.messages, 4 * split.words};
  const bool balancing = options.flag("balancing") && options.number("trigger") <= 4;
  const Terms gather_high =
      balancing ? Terms{p - 1 + steps, 4 * share} : Terms{steps, 2 * k * steps};

  Cost cost;
  cost.paper = {{2 * p + 2 * log, 2 * share}, {2 * p + 2 * log, 6 * share}};
  cost.counted.low = {p - 1 + 2 * steps, 2 * share};
  cost.counted.high = Terms{steps, 0} + split_high + gather_high;

  Terms low{0, p - 1};  // the sizes
  Terms high = low;
  const bool alone = in.ranks == 1;
  if (!alone && options.flag("balanced_split") &&
      (in.iteration - 1) % options.integer("tau") == 0) {
    const auto core = std::bit_floor(static_cast<unsigned>(in.ranks));
    const double rounds =
        std::log2(static_cast<double>(core)) + (std::cmp_equal(core, in.ranks) ? 0 : 2);
    low = low + Terms{rounds, rounds * p};
    high = high + Terms{rounds, rounds * p};
  }
  if (!alone && (in.iteration - 1) % options.integer("tau_prime") == 0) {
    const auto all = 2 * std::min(static_cast<double>(in.n), k * p);
    low = low + Terms{steps, 2 * share};
    high = high + Terms{steps, all * steps};
  }
  cost.lower_order = {low, high};
  return cost;
}

}  // namespace

SchemeInfo oktopk_scheme() {
  return {
      .name = "oktopk",
      .summary = "split and reduce over balanced regions, global top-k, balanced allgatherv",
      .source = "Ok-Topk (PPoPP 2022), Algorithm 1, Equations 1-3, Table 1",
      .latency = "2P + 2 log P",
      .bandwidth = "[2k (P-1)/P, 6k (P-1)/P]",
      .dense = false,
      .options = {{"tau", std::int64_t{64}, 1, "iterations between repartitions of the space"},
                  {"tau_prime", std::int64_t{32}, 1,
                   "iterations between exact thresholds (the paper: 32, BERT 128)"},
                  {"balanced_split", true, 0, "balance the regions; false: equal regions"},
                  {"rotation", true, 0, "rotate destinations; false: all send to rank i at step i"},
                  {"bucket", std::int64_t{16}, 1, "exchanges under way at a time; 1: no bucketing"},
                  {"sliding", true, 0,
                   "post the next exchange when the oldest ends; false: wait for whole buckets"},
                  {"balancing", true, 0, "balance data before the allgatherv"},
                  {"trigger", 4.0, 0, "balance when the largest size exceeds this times the mean"}},
      .restriction = [](int, std::int64_t) { return std::nullopt; },
      .cost = oktopk_cost,
      .make = [](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
        return std::make_unique<OkTopk>(setup);
      }};
}

}  // namespace thinwire
