#include "algorithms/schemes/oktopk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"

namespace thinwire::algorithms {

namespace {

/// The P ends of regions that hold equal parts of the selection; equal regions if it is empty. An
/// end between two entries is interpolated between their coordinates, so that regions of few
/// entries are balanced once the ranks' ends are averaged.
Numbers local_ends(const SparseVector& selected, int ranks, const GradientSpace& space) {
  const auto size = static_cast<double>(selected.size());
  std::vector<std::int64_t> ends;
  if (selected.size() == 0) {
    for (int i = 1; i <= ranks; ++i) {
      ends.push_back(space.coordinate(part_begin(space.components, ranks, i)));
    }
    return Numbers(std::move(ends));
  }
  // The entries on both sides of each end, as far as they exist.
  std::vector<std::size_t> positions;
  for (int i = 1; i <= ranks; ++i) {
    const auto below = static_cast<std::size_t>(size * i / ranks);
    for (const std::size_t position : {below, below + 1}) {
      if (position < selected.size()) positions.push_back(position);
    }
  }
  const std::vector<std::int64_t> coordinates = selected.coordinates_at(positions);
  auto next = coordinates.begin();
  for (int i = 1; i <= ranks; ++i) {
    const double position = size * i / ranks;
    const auto below = static_cast<std::size_t>(position);
    const std::int64_t low = below < selected.size() ? *next++ : space.coordinates();
    const std::int64_t high = below + 1 < selected.size() ? *next++ : space.coordinates();
    const double part = position - static_cast<double>(below);
    ends.push_back(low + std::llround(part * static_cast<double>(high - low)));
  }
  return Numbers(std::move(ends));
}

/// The same as in the published code: end i is the coordinate of selection i * floor(nnz / P), so
/// all ends except the last coincide if fewer than P are selected.
Numbers published_ends(const SparseVector& selected, int ranks, const GradientSpace& space) {
  const std::size_t share = selected.size() / static_cast<std::size_t>(ranks);
  std::vector<std::size_t> positions;
  for (int i = 1; i < ranks; ++i) positions.push_back(static_cast<std::size_t>(i) * share);
  if (selected.size() == 0) positions.clear();
  std::vector<std::int64_t> ends = selected.coordinates_at(positions);
  ends.resize(static_cast<std::size_t>(ranks - 1), 0);
  ends.push_back(space.coordinates());
  return Numbers(std::move(ends));
}

/// The mean of the ranks' ends, given their sum.
Boundaries mean_boundaries(std::span<const std::int64_t> sums, int ranks) {
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t sum : sums) cuts.push_back(sum / ranks);
  return Boundaries(std::move(cuts));
}

std::int64_t components_in(const SparseVector& vector, const SchemeSetup& setup) {
  return static_cast<std::int64_t>(vector.size()) * setup.space.granule;
}

/// Local work on the device, which is no part of the exchange.
Task<void> work(Communicator& comm, Seconds cost) {
  if (cost == Seconds(0)) co_return;
  const auto phase = comm.phase(kSparsification);
  co_await comm.compute(cost);
}

/// The cost of intersecting the selection with the result: a mask of the result's indexes, in which
/// each selected one is looked up.
Seconds intersecting(const SparseVector& selected, const SparseVector& result,
                     const SchemeSetup& setup) {
  return setup.prices.scatter.of(components_in(result, setup)) +
         setup.prices.compare.of(components_in(selected, setup));
}

class OkTopk final : public SparseCollective {
 public:
  explicit OkTopk(const SchemeSetup& setup)
      : setup_(setup),
        numbers_(*setup.shared),
        global_(setup.options.integer("tau_prime")),
        boundaries_(equal_regions(setup)) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const SparseVector result = co_await global_topk(comm, selected, iteration);
    co_await work(comm, intersecting(selected, result, setup_));
    co_return Reduced{.sum = result, .contributed = intersect(selected, result)};
  }

  /// The global top-k of the sum of the ranks' selections.
  Task<SparseVector> global_topk(Communicator& comm, SparseVector selected, int iteration) {
    if (repartitions(iteration)) co_await repartition(comm, selected);
    const SparseVector reduced = co_await reduce_own_region(comm, selected);
    if (global_.exact_in(iteration)) {
      if (setup_.options.flag("published")) {
        // Every rank gathers all reduced regions and selects from them.
        static_cast<void>(co_await gather_sizes(comm, reduced));
        const SparseVector all = co_await set_global_threshold(comm, reduced);
        co_await work(comm, selecting(all));
        co_return selected_of(all);
      }
      static_cast<void>(co_await set_global_threshold(comm, reduced));
    }
    co_await work(comm, selecting(reduced));
    co_return co_await balance_and_allgather(comm, global_.select(reduced));
  }

 private:
  /// The cost of comparing with the global threshold, and of storing what passes.
  [[nodiscard]] Seconds selecting(const SparseVector& values) const {
    const std::int64_t components = components_in(values, setup_);
    return setup_.prices.compare.of(components) + setup_.prices.prefix_sum.of(components);
  }

  [[nodiscard]] bool repartitions(int iteration) const {
    return setup_.options.flag("balanced_split") &&
           (iteration - 1) % setup_.options.integer("tau") == 0;
  }

  Task<void> repartition(Communicator& comm, const SparseVector& selected) {
    const auto phase = comm.phase("repartition");
    const Numbers own = setup_.options.flag("published")
                            ? published_ends(selected, setup_.ranks, setup_.space)
                            : local_ends(selected, setup_.ranks, setup_.space);
    co_await work(comm, setup_.prices.sample.of(setup_.ranks));  // reads entries at P positions
    const Message ends = own.message();
    const Message sums = co_await allreduce_recursive_doubling(comm, ends, numbers_);
    const std::array inputs{sums};
    const Message mean = setup_.shared->once("boundaries", inputs, [&] {
      return mean_boundaries(Numbers::from(sums.payload).all(), setup_.ranks).message();
    });
    boundaries_ = Boundaries::from(mean.payload);
  }

  Task<SparseVector> reduce_own_region(Communicator& comm, const SparseVector& selected) {
    const auto phase = comm.phase("split_and_reduce");
    const bool published = setup_.options.flag("published");
    const auto bucket = std::min<std::int64_t>(setup_.options.integer("bucket"), setup_.ranks);
    const ExchangeOrder order{.rotated = setup_.options.flag("rotation"),
                              .bucket = static_cast<int>(bucket),
                              .sliding = !published && setup_.options.flag("sliding"),
                              .counts_itself = published};
    const SplitStyle style{.order = order, .counts_first = published};
    Task<SparseVector> task = split_and_reduce(comm, selected, boundaries_, setup_, style);
    co_return co_await std::move(task);
  }

  /// The global selection from the gathered regions, computed once for all ranks.
  [[nodiscard]] SparseVector selected_of(const SparseVector& all) const {
    const std::array inputs{all.message(setup_.space)};
    const Message selected = setup_.shared->once(
        "global selection", inputs, [&] { return global_.select(all).message(setup_.space); });
    return SparseVector::from(selected.payload);
  }

  /// Returns all reduced regions.
  Task<SparseVector> set_global_threshold(Communicator& comm, const SparseVector& reduced) {
    const auto phase = comm.phase("global_threshold");
    const Concatenation all = co_await allgather(comm, reduced.message(setup_.space));
    const auto gathered = std::llround(static_cast<double>(all.message().words.value()) /
                                       setup_.space.precision.entry());
    {
      const auto paying = comm.phase(kSparsification);
      co_await comm.compute(setup_.prices.topk.of(gathered));
    }
    const std::array inputs{all.message()};
    const Message threshold = setup_.shared->once("global threshold", all.contents(), inputs, [&] {
      const SparseVector vector = concatenation_of_gathered(all, *setup_.shared);
      const float kth = kth_magnitude(vector, setup_.carried_k());
      return Numbers({std::bit_cast<std::int32_t>(kth)}).message();
    });
    const auto bits = static_cast<std::int32_t>(Numbers::from(threshold.payload)[0]);
    global_.set(std::bit_cast<float>(bits));
    co_return concatenation_of_gathered(all, *setup_.shared);
  }

  Task<SparseVector> balance_and_allgather(Communicator& comm, SparseVector mine) {
    const Numbers sizes = co_await gather_sizes(comm, mine);
    nudge(sizes.total());
    if (must_balance(sizes)) mine = co_await balance(comm, std::move(mine), sizes);
    const auto phase = comm.phase("allgatherv");
    const Concatenation all = co_await allgather(comm, mine.message(setup_.space));
    co_return concatenation_of_gathered(all, *setup_.shared);
  }

  Task<Numbers> gather_sizes(Communicator& comm, const SparseVector& mine) const {
    const auto phase = comm.phase("sizes");
    const auto size = static_cast<std::int64_t>(mine.size());
    co_return co_await allgather_sizes(comm, size, *setup_.shared);
  }

  /// Adapts the next iteration's global threshold to the size of the result, which all ranks know.
  void nudge(std::int64_t selected) {
    const Options& options = setup_.options;
    if (!options.flag("nudge")) return;
    global_.nudge(selected, setup_.carried_k(), options.number("nudge_low"),
                  options.number("global_high"), options.number("global_raise"),
                  options.number("global_lower"));
  }

  [[nodiscard]] bool must_balance(const Numbers& sizes) const {
    const std::int64_t largest = std::ranges::max(sizes.all());
    const double mean = static_cast<double>(sizes.total()) / setup_.ranks;
    return setup_.options.flag("balancing") &&
           static_cast<double>(largest) > setup_.options.number("trigger") * mean;
  }

  /// Moves entries so that rank i holds part i of all of them in the order of the ranks. All ranks
  /// know all sizes, so no requests are needed.
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
  ReusedThreshold global_;
  Boundaries boundaries_;
};

/// The selections are added inside each node, and the leaders find the global top-k of the sums, so
/// the result is that of oktopk.
class HierarchicalOkTopk final : public SparseCollective {
 public:
  explicit HierarchicalOkTopk(const SchemeSetup& setup)
      : nodes_(nodes_of(setup.options, setup.ranks, setup.node)),
        leaders_setup_(setup),
        reduction_(*setup.shared, setup.gamma, setup.space, {.delta = kNeverDense}) {
    leaders_setup_.ranks = nodes_.count;
    among_leaders_.emplace(leaders_setup_);
  }

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, leaders_setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const AmongLeaders topk = [this, iteration](Communicator& leaders, Message sum) {
      return topk_of(leaders, SparseVector::from(sum.payload), iteration);
    };
    const Message mine = selected.message(leaders_setup_.space);
    const Message total =
        co_await allreduce_hierarchical(comm, nodes_.size, mine, reduction_, topk);
    const SparseVector result = SparseVector::from(total.payload);
    co_await work(comm, intersecting(selected, result, leaders_setup_));
    co_return Reduced{.sum = result, .contributed = intersect(selected, result)};
  }

 private:
  Task<Message> topk_of(Communicator& leaders, SparseVector sum, int iteration) {
    const SparseVector result = co_await among_leaders_->global_topk(leaders, sum, iteration);
    co_return result.message(leaders_setup_.space);
  }

  Nodes nodes_;
  SchemeSetup leaders_setup_;  // the setup that the leaders' oktopk refers to
  GradientReduction reduction_;
  std::optional<OkTopk> among_leaders_;
};

Cost oktopk_cost(const CostInput& in) {
  const Options& options = *in.options;
  const double p = in.ranks;
  const double k = in.most();
  const double steps = ceil_log2(in.ranks);
  // Words of entries; `least` and `share` are those of the even parts.
  const double entry = in.entry();
  const double share = k * (p - 1) / p;
  const double least = in.least() * (p - 1) / p;
  const bool published = options.flag("published");
  const double split_messages = published ? 3 * (p - 1) : p - 1;

  // Upper ends, phase by phase; a variant without an optimisation has a higher one.
  Terms split{split_messages, entry * share, 0};
  if (!options.flag("balanced_split")) split.words = entry * k * (p - 1);
  // Without rotation the ranks may receive one after another.
  const Terms split_high =
      options.flag("rotation") ? split : Terms{p * split.messages, p * split.words, 0};
  const bool balancing = options.flag("balancing") && options.number("trigger") <= 4;
  const Terms gather_high =
      balancing ? Terms{p - 1 + steps, 2 * entry * share, 0} : Terms{steps, entry * k * steps, 0};

  Cost cost;
  const bool exact_round = (in.iteration - 1) % options.integer("tau_prime") == 0;
  cost.counted.low = {split_messages + 2 * steps, entry * least, 0};
  cost.counted.high = Terms{steps, 0, 0} + split_high + gather_high;

  Terms low{0, published ? 2 * (p - 1) : p - 1, 0};  // the sizes, and the counts
  Terms high = low;
  const bool alone = in.ranks == 1;
  if (!alone && options.flag("balanced_split") &&
      (in.iteration - 1) % options.integer("tau") == 0) {
    const auto core = std::bit_floor(static_cast<unsigned>(in.ranks));
    const double rounds =
        std::log2(static_cast<double>(core)) + (std::cmp_equal(core, in.ranks) ? 0 : 2);
    low = low + Terms{rounds, rounds * p, 0};
    high = high + Terms{rounds, rounds * p, 0};
  }
  if (!alone) {
    // Regions end at whole entries: one more per message.
    high.words += entry * static_cast<double>(in.granule) * (p - 1);
    // The published boundaries leave the remainder of P regions to the last.
    if (published) high.words += entry * static_cast<double>(in.granule) * (p - 1) * (p - 1);
    // Balancing takes one more message when two ranks hold parts of one target.
    if (balancing) high.messages += 1;
  }
  if (!alone && exact_round) {
    const auto all = entry * std::min(static_cast<double>(in.n), k * p);
    // The published code ends the iteration there.
    if (!published) low = low + Terms{steps, entry * least, 0};
    high = high + Terms{steps, all * steps, 0};
  }
  cost.added = {low, high};
  return cost;
}

Cost hierarchical_oktopk_cost(const CostInput& in) {
  const Nodes nodes = nodes_of(*in.options, in.ranks, in.node);
  CostInput among = in;
  among.ranks = nodes.count;
  const auto n = static_cast<double>(in.n);
  const double height = ceil_log2(nodes.size);
  // The sum of a node has at least the selection of one rank, and at most those of all its ranks.
  const auto sum = std::min<std::int64_t>(in.n, static_cast<std::int64_t>(in.most()) * nodes.size);
  among.selected = SelectedCounts{.least = static_cast<std::int64_t>(in.least()), .most = sum};
  const Cost cost = oktopk_cost(among);
  double up = 0;
  for (int ranks = 1; ranks < nodes.size; ranks *= 2) {
    up += in.entry() * std::min(in.most() * ranks, n);
  }
  Cost result;
  const Terms low{2 * height, 2 * in.entry() * in.least() * height, 0};
  const Terms high{2 * height, up + in.entry() * in.most() * height, up / in.entry()};
  result.counted = cost.counted + Interval{low, high};
  result.counted.high.reduced += static_cast<double>(sum) * (among.ranks - 1);
  result.added = cost.added;
  return result;
}

}  // namespace

SchemeInfo hierarchical_oktopk_scheme() {
  SchemeInfo info = oktopk_scheme();
  info.name = "hierarchical_oktopk";
  info.summary = "selections added inside nodes, the leaders' oktopk, and a broadcast";
  info.source = "ours: Ok-Topk (PPoPP 2022), Algorithm 1, for nodes of several ranks";
  info.paper = {.latency = "2 log min(node, P) + 2 ceil(P/node) + 2 log ceil(P/node)",
                .words = "4k log min(node, P) + 2k (1 - 1/ceil(P/node))",
                .words_high =
                    "2k (min(node, P) - 1) + 2k log min(node, P) + "
                    "6k min(node, P) (1 - 1/ceil(P/node))",
                .reduced_high = "k (min(node, P) - 1) + k min(node, P) (ceil(P/node) - 1)"};
  info.options.insert(info.options.begin(), node_option());
  info.run_cost = hierarchical_oktopk_cost;
  info.collective = [](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
    return std::make_unique<HierarchicalOkTopk>(setup);
  };
  return info;
}

SchemeInfo oktopk_scheme() {
  SchemeInfo info{
      .name = "oktopk",
      .summary = "split and reduce over balanced regions, global top-k, balanced allgatherv",
      .source = "Ok-Topk (PPoPP 2022), Algorithm 1, Equations 1-3, Table 1",
      .paper = {.latency = "2P + 2 log P",
                .words = "2k (P-1)/P",
                .words_high = "6k (P-1)/P",
                .reduced = "0",
                .reduced_high = "k (P-1) max(1 - min(balanced_split, rotation), 1/P)"},
      .added =
          "P-1 words of sizes; every tau iterations an allreduce of P boundaries; every "
          "tau_prime iterations an allgatherv of the reduced regions",
      .uneven_parts = true,
      .options = {{"tau", std::int64_t{64}, 1, "iterations between repartitions of the space"},
                  {"balanced_split", true, 0, "balance the regions; false: equal regions"},
                  {"rotation", true, 0, "rotate destinations; false: all send to rank i at step i"},
                  {"bucket", std::int64_t{16}, 1, "exchanges under way at a time; 1: no bucketing"},
                  {"sliding", true, 0,
                   "post the next exchange when the oldest ends; false: wait for whole buckets"},
                  {"balancing", true, 0, "balance data before the allgatherv"},
                  {"trigger", 4.0, 0, "balance when the largest size exceeds this times the mean"},
                  {"published", false, 0,
                   "as the published code: counts first, indexes and values apart, whole buckets, "
                   "its boundaries (with bucket=4, nudge=true; balancing=false, or trigger=0 "
                   "for BERT)"},
                  {"global_high", 4.0 / 3, 1, "nudge: upper end of the global band, times k"},
                  {"global_raise", 1.008, 1, "nudge: factor of the global threshold (BERT 1.025)"},
                  {"global_lower", 1.008, 1, "nudge: divisor of the global threshold (LSTM 1.01)"}},
      .periods = {"tau", "tau_prime"},
      .run_cost = oktopk_cost,
      .collective = [](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
        return std::make_unique<OkTopk>(setup);
      },
      .selects_result = true};
  for (OptionInfo& option : threshold_reuse_options()) {
    if (option.name != "nudge_factor") info.options.push_back(std::move(option));
  }
  return info;
}

}  // namespace thinwire::algorithms
