#include "algorithms/schemes/oktopk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/over_rails.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/decoding.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"

namespace thinwire::algorithms {

namespace {

/// The ends of regions that hold equal parts of the selection; equal regions if it is empty. An
/// end between two entries is interpolated between their coordinates, so that regions of few
/// entries are balanced once the ranks' ends are averaged.
std::vector<std::int64_t> local_ends(const SparseVector& selected, int regions,
                                     const GradientSpace& space) {
  const auto size = static_cast<double>(selected.size());
  std::vector<std::int64_t> ends;
  if (selected.size() == 0) {
    for (int i = 1; i <= regions; ++i) {
      ends.push_back(space.coordinate(part_begin(space.components, regions, i)));
    }
    return ends;
  }
  // The entries on both sides of each end, as far as they exist.
  std::vector<std::size_t> positions;
  for (int i = 1; i <= regions; ++i) {
    const auto below = static_cast<std::size_t>(size * i / regions);
    for (const std::size_t position : {below, below + 1}) {
      if (position < selected.size()) positions.push_back(position);
    }
  }
  const std::vector<std::int64_t> coordinates = selected.coordinates_at(positions);
  auto next = coordinates.begin();
  for (int i = 1; i <= regions; ++i) {
    const double position = size * i / regions;
    const auto below = static_cast<std::size_t>(position);
    const std::int64_t low = below < selected.size() ? *next++ : space.coordinates();
    const std::int64_t high = below + 1 < selected.size() ? *next++ : space.coordinates();
    const double part = position - static_cast<double>(below);
    ends.push_back(low + std::llround(part * static_cast<double>(high - low)));
  }
  return ends;
}

/// The same as in the published code: end i is the coordinate of selection i * floor(nnz /
/// regions), so all ends except the last coincide if fewer are selected.
std::vector<std::int64_t> published_ends(const SparseVector& selected, int regions,
                                         const GradientSpace& space) {
  const std::size_t share = selected.size() / static_cast<std::size_t>(regions);
  std::vector<std::size_t> positions;
  for (int i = 1; i < regions; ++i) positions.push_back(static_cast<std::size_t>(i) * share);
  if (selected.size() == 0) positions.clear();
  std::vector<std::int64_t> ends = selected.coordinates_at(positions);
  ends.resize(static_cast<std::size_t>(regions - 1), 0);
  ends.push_back(space.coordinates());
  return ends;
}

/// The mean of the ranks' ends, given their sum. The last end of each rank is the end of the space,
/// which tells how many ranks were added.
Boundaries mean_boundaries(std::span<const std::int64_t> sums, const GradientSpace& space) {
  const std::int64_t ranks = sums.back() / space.coordinates();
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t sum : sums) cuts.push_back(sum / ranks);
  return Boundaries(std::move(cuts));
}

/// Local work on the device, which is no part of the exchange.
Task<void> work(Communicator& comm, Seconds cost) {
  if (cost == Seconds(0)) co_return;
  const auto phase = comm.phase(kSparsification);
  co_await comm.compute(cost);
}

/// All of Algorithm 1. With nodes of one rank it is oktopk.
class OkTopk final : public SparseCollective {
 public:
  OkTopk(const SchemeSetup& setup, Nodes nodes)
      : setup_(setup),
        regions_(nodes),
        numbers_(*setup.shared),
        global_(setup.options.integer("tau_prime")),
        boundaries_(equal_regions(setup, regions_.count())) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const SparseVector result = co_await global_topk(comm, selected, iteration);
    co_await work(comm, intersecting(setup_.prices, setup_.space.components,
                                     setup_.components_in(selected), setup_.components_in(result)));
    co_return Reduced{.sum = result, .contributed = intersect(selected, result)};
  }

 private:
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

  /// The cost of comparing with the global threshold, and of storing what passes.
  [[nodiscard]] Seconds selecting(const SparseVector& values) const {
    const std::int64_t components = setup_.components_in(values);
    return setup_.prices.compare.of(components) + setup_.prices.prefix_sum.of(components);
  }

  [[nodiscard]] bool repartitions(int iteration) const {
    return setup_.options.flag("balanced_split") &&
           (iteration - 1) % setup_.options.integer("tau") == 0;
  }

  Task<void> repartition(Communicator& comm, const SparseVector& selected) {
    const auto phase = comm.phase("repartition");
    const int regions = regions_.count();
    const auto ends_of = [this, regions](const SparseVector& of) {
      return setup_.options.flag("published") ? published_ends(of, regions, setup_.space)
                                              : local_ends(of, regions, setup_.space);
    };
    const Numbers own = setup_.roles->summand(selected, regions, ends_of);
    co_await work(comm, setup_.prices.sample.of(regions));  // reads entries at as many positions
    const Message ends = own.message();
    const Message sums = co_await allreduce_recursive_doubling(comm, ends, numbers_);
    const std::array inputs{sums};
    const Message mean = setup_.shared->once("boundaries", inputs, [&] {
      return mean_boundaries(Numbers::from(sums.payload).all(), setup_.space).message();
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
    Task<SparseVector> task =
        split_over_rails(comm, regions_, selected, boundaries_, setup_, style);
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
    const Concatenation all = co_await allgather_over_rails(comm, regions_, reduced, setup_);
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
    const Concatenation all = co_await allgather_over_rails(comm, regions_, mine, setup_);
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
    const std::int64_t largest = sizes.largest();
    const double mean = static_cast<double>(sizes.total()) / regions_.count();
    return setup_.options.flag("balancing") &&
           static_cast<double>(largest) > setup_.options.number("trigger") * mean;
  }

  /// Where the target of each region begins among all entries, in the order of the regions: parts
  /// of equal length. Where sizes repeat, so do the targets, each rail's among its own entries.
  class Targets {
   public:
    Targets(const RailRegions& regions, const Numbers& sizes, Repeats repeats)
        : along_(repeats.along), after_(repeats.after) {
      for (int first = 0; first < regions.count(); first += along_) {
        std::int64_t period = 0;
        for (int region = first; region < first + after_; ++region) {
          period += sizes[static_cast<std::size_t>(regions.owner(region).value())];
        }
        begins_.push_back(begins_.back() + period * (along_ / after_));
      }
    }
    [[nodiscard]] std::int64_t operator()(int region) const {
      const auto rail = static_cast<std::size_t>(region / along_);
      if (rail + 1 == begins_.size()) return begins_.back();
      const std::int64_t period = (begins_[rail + 1] - begins_[rail]) * after_ / along_;
      const int place = region % along_;
      return begins_[rail] + place / after_ * period + part_begin(period, after_, place % after_);
    }

   private:
    int along_;  ///< regions whose targets are parts of the same entries
    int after_;  ///< of them, after which they repeat
    std::vector<std::int64_t> begins_{0};
  };

  /// Moves entries so that the owner of region i holds part i of all of them in the order of the
  /// regions. All ranks know all sizes, so no requests are needed.
  Task<SparseVector> balance(Communicator& comm, SparseVector mine, Numbers sizes) {
    const std::optional<int> region = regions_.region_of(comm.rank());
    if (!region) co_return mine;
    const auto phase = comm.phase("balance");
    const int own = *region;
    const auto size_of = [&](int r) {
      return sizes[static_cast<std::size_t>(regions_.owner(r).value())];
    };
    const Repeats repeats = setup_.roles->repeats(regions_.count(), regions_.nodes().count);
    const Targets target(regions_, sizes, repeats);

    std::vector<int> sources;
    std::vector<Request> requests;
    std::int64_t first = 0;  // of the own entries, among all
    std::int64_t begin = 0;
    for (int from = 0; from < regions_.count(); ++from) {
      const std::int64_t end = begin + size_of(from);
      if (from == own) first = begin;
      if (std::max(begin, target(own)) < std::min(end, target(own + 1))) {
        sources.push_back(from);
        if (from != own) requests.push_back(comm.irecv(regions_.owner(from), kBalanceTag));
      }
      begin = end;
    }
    const std::int64_t last = first + size_of(own);
    SparseVector kept;
    for (int step = 0; step < regions_.count(); ++step) {
      const int to = (own + step) % regions_.count();
      const std::int64_t low = std::max(first, target(to));
      const std::int64_t high = std::min(last, target(to + 1));
      if (low >= high) continue;
      const SparseVector part =
          mine.slice(static_cast<std::size_t>(low - first), static_cast<std::size_t>(high - first));
      if (to == own) {
        kept = part;
      } else {
        requests.push_back(comm.isend(regions_.owner(to), kBalanceTag, part.message(setup_.space)));
      }
    }
    const std::vector<Message> received = co_await comm.wait_all(requests);
    std::vector<SparseVector> parts;
    std::size_t next = 0;
    for (const int from : sources) {
      parts.push_back(from == own ? kept : SparseVector::from(received[next++].payload));
    }
    co_return concatenate(parts);
  }

  const SchemeSetup& setup_;
  RailRegions regions_;
  NumbersReduction numbers_;
  ReusedThreshold global_;
  Boundaries boundaries_;
};

/// Why 'sliding' changes nothing, or empty.
std::string why_not_sliding(const OptionUse& use) {
  if (use.options.flag("published")) {
    return "published=true waits for whole buckets; leave it out";
  }
  if (use.options.integer("bucket") > 1) return {};
  return "with bucket=1 one exchange is under way at a time; set options.bucket to 2 or more, or "
         "leave it out";
}

/// The option, of the thresholds that ranks reuse, which changes nothing beside other sparsifiers.
OptionInfo only_with_threshold_reuse(OptionInfo option) {
  option.idle = [idle = option.idle](const OptionUse& use) -> std::string {
    if (use.options.all().contains(kNudgeFactor)) return idle(use);
    return "this sparsifier reuses no thresholds; leave it out, or take threshold_reuse";
  };
  return option;
}

/// The most entries on the critical path of an allgather by doubling, along the rails and then in
/// the nodes, of k entries in pieces of at most `piece`: a step of distance d sends at most d
/// pieces. If nodes have one rank, P is a power of two and a piece is c k/P, this is k + k log c -
/// c k/P.
double most_gathered(const Nodes& nodes, double k, double piece) {
  double entries = 0;
  const auto gather = [&](int ranks, double of_rank) {
    for (int distance = 1; distance < ranks; distance *= 2) {
      entries += std::min(k, of_rank * std::min(distance, ranks - distance));
    }
  };
  gather(nodes.count, piece);
  gather(nodes.size, piece * nodes.count);
  return entries;
}

/// The terms of a run. Words are the words of entries.
class OkTopkCost {
 public:
  OkTopkCost(const CostInput& in, const Nodes& nodes)
      : in_(in), nodes_(nodes), published_(in.options->flag("published")) {}

  [[nodiscard]] Cost cost() const {
    Cost cost;
    const double of_sizes = ceil_log2(in_.ranks);
    cost.counted.low = {split().messages + steps_ + of_sizes, entry_ * least_, 0};
    cost.counted.high = Terms{of_sizes, 0, 0} + split_high() + gather_high();
    if (!alike_) cost.counted.high.reduced = split_high().words / entry_;
    cost.added = added();
    // Ranks that have less to do in one phase wait in the next one.
    if (!alike_) cost.added.high.messages += cost.counted.high.messages;
    return cost;
  }

 private:
  [[nodiscard]] bool flag(const char* option) const { return in_.options->flag(option); }
  [[nodiscard]] bool is_round_of(const char* period) const {
    return (in_.iteration - 1) % in_.options->integer(period) == 0;
  }

  // Upper ends, phase by phase; a variant without an optimisation has a higher one.
  [[nodiscard]] Terms in_node() const {
    const double shares = flag("balanced_split") ? nodes_.rails() : 1;
    return {(g_ - 1) * (published_ ? 3 : 1), entry_ * k_ * (g_ - 1) / shares, 0};
  }
  [[nodiscard]] Terms along_rail() const {
    const double messages = (m_ - 1) * (published_ ? 3 : 1);
    if (!flag("balanced_split")) return {messages, entry_ * k_ * g_ * (m_ - 1), 0};
    return {messages, entry_ * k_ * g_ / nodes_.rails() * (m_ - 1) / m_, 0};
  }
  [[nodiscard]] Terms split() const { return in_node() + along_rail(); }
  /// Without rotation the ranks may receive one after another.
  [[nodiscard]] Terms split_high() const {
    return flag("rotation") ? split() : g_ * in_node() + m_ * along_rail();
  }
  [[nodiscard]] Terms gather_high() const {
    // The longest piece that is gathered as it is.
    const double piece = balancing_ ? (trigger_ < 1 ? 0 : trigger_ * k_ / regions_) : k_;
    Terms high{steps_, entry_ * (alike_ ? most_gathered(nodes_, k_, piece) : k_ * steps_), 0};
    if (balancing_) {
      high.messages += regions_ - 1;
      high.words = std::max(high.words, 2 * entry_ * share_);
    }
    return high;
  }

  /// What the formula leaves out.
  [[nodiscard]] Interval added() const {
    // The sizes, and the counts.
    Interval all = same({0, p_ - 1 + (published_ ? g_ - 1 + m_ - 1 : 0), 0});
    if (flag("balanced_split") && is_round_of("tau")) {
      const auto core = std::bit_floor(static_cast<unsigned>(in_.ranks));
      const double rounds =
          std::log2(static_cast<double>(core)) + (std::cmp_equal(core, in_.ranks) ? 0 : 2);
      all = all + same({rounds, rounds * regions_, 0});
    }
    // Regions end at whole entries: one more per message, of every rank of a node along the rails.
    const double ends = g_ - 1 + g_ * (m_ - 1);
    all.high.words += entry_ * static_cast<double>(in_.granule) * ends;
    // The published boundaries leave the remainder of all regions to the last.
    if (published_) {
      all.high.words += entry_ * static_cast<double>(in_.granule) * ends * (regions_ - 1);
    }
    if (in_.selected) add_concentration(all.high);
    // Balancing takes one more message when two ranks hold parts of one target.
    if (balancing_) all.high.messages += 1;
    if (is_round_of("tau_prime")) {
      const auto whole = entry_ * std::min(static_cast<double>(in_.n), k_ * p_);
      // The published code ends the iteration there.
      if (!published_) all.low = all.low + Terms{steps_, entry_ * least_, 0};
      all.high = all.high + Terms{steps_, whole * steps_, 0};
    }
    return all;
  }

  /// Equation 1 holds approximately: where the ranks select in different places, the mean of their
  /// boundaries suits none of them, and one region may hold all that they select in a run. If it is
  /// known what a rank received, no port is busy longer: when all exchanges of a bucket are posted,
  /// the last message has left after what a rank sends, and has arrived after what a rank receives.
  void add_concentration(Terms& high) const {
    const double in_one = k_ * (g_ - 1 + g_ * (m_ - 1));
    double received = in_one;
    double path = in_one;
    if (in_.selected->split_words && flag("rotation")) {
      const auto bucket = static_cast<double>(in_.options->integer("bucket"));
      const auto buckets_of = [&](double ranks) {  // the published first one counts the rank itself
        return ranks == 1 ? 0 : std::ceil((ranks - (published_ ? 0 : 1)) / bucket);
      };
      const double buckets = buckets_of(g_) + buckets_of(m_);
      const double sent = g_ > 1 ? k_ * (1 + g_) : k_;
      received = buckets * static_cast<double>(*in_.selected->split_words) / entry_;
      path = std::min(in_one, buckets * sent + received);
    }
    high.words += std::max(0.0, entry_ * path - split_high().words);
    if (flag("balanced_split") && flag("rotation")) {
      high.reduced +=
          std::min(received, k_ * (g_ - 1) * (1 - 1 / g_) + k_ * (m_ - 1) * (g_ - 1 / m_));
    }
  }

  const CostInput& in_;
  const Nodes& nodes_;
  bool published_;
  double p_ = in_.ranks;
  double g_ = nodes_.size;
  double m_ = nodes_.count;
  double regions_ = nodes_.rails() * m_;
  double k_ = in_.most();
  double entry_ = in_.entry();
  double steps_ = ceil_log2(nodes_.size) + ceil_log2(nodes_.count);
  /// Where the last node is smaller, there are ranks that hold no region, and receive all of the
  /// result.
  bool alike_ = nodes_.rails() == nodes_.size;
  double share_ = alike_ ? k_ * (p_ - 1) / p_ : k_ + k_ * (m_ - 1) / regions_;  ///< of even parts
  double least_ = alike_ ? in_.least() * (p_ - 1) / p_ : 0;                     ///< likewise
  double trigger_ = in_.options->number("trigger");
  bool balancing_ = flag("balancing") && trigger_ < regions_;
};

Cost oktopk_cost(const CostInput& in, const Nodes& nodes) {
  if (in.ranks == 1) return {};
  return OkTopkCost(in, nodes).cost();
}

Nodes nodes_of_one_rank(int ranks) { return {.size = 1, .count = ranks, .ranks = ranks}; }

}  // namespace

SchemeInfo hierarchical_oktopk_scheme() {
  const std::string g = "min(node, P)";
  const std::string m = "ceil(P/node)";
  const std::string naive = "(1 - min(balanced_split, rotation))";
  SchemeInfo info = oktopk_scheme();
  info.name = "hierarchical_oktopk";
  info.summary =
      "oktopk in two levels: summed inside nodes, then along rails; gathered along rails, then "
      "inside nodes";
  info.source = "ours: Ok-Topk (PPoPP 2022), Algorithm 1, with the levels of BlueConnect (2019)";
  info.paper = {
      .latency = g + " + " + m + " + 2 log P",
      .words = "2k (P-1)/P",
      .words_high = "2k (" + g + " - 1)/" + g + " + 2k (" + m + " - 1)/" + m + " + 4k (P-1)/P",
      .latency_high = g + " + " + m + " + P + 2 log P",
      .reduced_high = "k (" + g + " - 1) max(" + naive + ", 1/" + g + ") + k (" + m + " - 1) max(" +
                      naive + " " + g + ", 1/" + m + ")",
      .ours = true};
  info.stand_ins.adds_in_nodes = true;
  info.options.insert(info.options.begin(), node_option());
  info.run_cost = [](const CostInput& in) {
    return oktopk_cost(in, nodes_of(*in.options, in.ranks, in.node));
  };
  info.collective = [](const SchemeSetup& setup) {
    return std::make_unique<OkTopk>(setup, nodes_of(setup.options, setup.ranks, setup.node));
  };
  return info;
}

SchemeInfo oktopk_scheme() {
  SchemeInfo info{
      .name = "oktopk",
      .summary = "balanced regions summed by direct exchange; global top-k; balanced allgatherv",
      .source = "Ok-Topk (PPoPP 2022), Algorithm 1, Equations 1-3, Table 1",
      .paper = {.latency = "2P + 2 log P",
                .words = "2k (P-1)/P",
                .words_high = "6k (P-1)/P",
                .reduced = "0",
                .reduced_high = "k (P-1) max(1 - min(balanced_split, rotation), 1/P)"},
      .added =
          "P-1 words of sizes; every tau iterations an allreduce of P boundaries; every "
          "tau_prime iterations an allgatherv of the reduced regions",
      .stand_ins = {.uneven_parts = UnevenParts::sent},
      .options = {only_with("balanced_split", {"tau", std::int64_t{64}, 1,
                                               "iterations between repartitions of the space"}),
                  {"balanced_split", true, 0, "balance the regions; false: equal regions"},
                  {"rotation", true, 0, "rotate destinations; false: all send to rank i at step i"},
                  {"bucket", std::int64_t{16}, 1, "exchanges under way at a time; 1: no bucketing"},
                  {.name = "sliding",
                   .fallback = true,
                   .minimum = 0,
                   .help = "post the next exchange when the oldest ends; false: wait for whole "
                           "buckets",
                   .idle = why_not_sliding},
                  {"balancing", true, 0, "balance data before the allgatherv"},
                  only_with("balancing",
                            {"trigger", 4.0, 0,
                             "balance when the largest size exceeds this times the mean"}),
                  {"published", false, 0,
                   "as the published code: counts first, indexes and values apart, whole buckets, "
                   "its boundaries (with bucket=4, nudge=true; balancing=false, or trigger=0 "
                   "for BERT)"},
                  only_with("nudge", {"global_high", 4.0 / 3, 1,
                                      "nudge: upper end of the global band, times k"}),
                  only_with("nudge", {"global_raise", 1.008, 1,
                                      "nudge: factor of the global threshold (BERT 1.025)"}),
                  only_with("nudge", {"global_lower", 1.008, 1,
                                      "nudge: divisor of the global threshold (LSTM 1.01)"})},
      .periods = {"tau", "tau_prime"},
      .run_cost = [](const CostInput& in) { return oktopk_cost(in, nodes_of_one_rank(in.ranks)); },
      .collective =
          [](const SchemeSetup& setup) {
            return std::make_unique<OkTopk>(setup, nodes_of_one_rank(setup.ranks));
          },
      .selects_result = true};
  for (OptionInfo& option : threshold_reuse_options()) {
    if (option.name == kNudgeFactor) continue;
    const bool of_ranks = option.name == "nudge_high";
    info.options.push_back(of_ranks ? only_with_threshold_reuse(std::move(option))
                                    : std::move(option));
  }
  return info;
}

}  // namespace thinwire::algorithms
