#include "algorithms/schemes/sparcml.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
#include "algorithms/decoding.hpp"
#include "sim/core/gradient/quantiser.hpp"

namespace thinwire::algorithms {

namespace {

const std::string kDeltaOption = "delta";

/// The word in front of a stream that says whether it is sparse or dense (section 5.1).
constexpr std::int64_t kMarker = 1;

/// The streams of a dynamic scheme become dense above its δ; streams of a static one never do.
StreamFormat format_of(const Options& options) {
  const bool dynamic = options.all().contains(kDeltaOption);
  return {.delta = dynamic ? options.number(kDeltaOption) : kNeverDense, .marker = kMarker};
}

/// Sets `components` components to zero and writes the entries of `sparse` into them.
Task<void> pay_for_densifying(Communicator& comm, const SchemeSetup& setup,
                              const SparseVector& sparse, std::int64_t components) {
  const auto phase = comm.phase("densification");
  const std::int64_t entries = setup.components_in(sparse);
  co_await comm.compute(sparse_decoding(setup.prices, setup.prices.scatter.element, components,
                                        static_cast<double>(std::min(entries, components))));
}

/// The selection as a stream.
Message stream_of(const SparseVector& selected, const GradientSpace& space,
                  const StreamFormat& format) {
  const auto components = static_cast<double>(selected.size()) * static_cast<double>(space.granule);
  Message message = selected.message(space);
  if (components > format.dense_above(space.precision) * static_cast<double>(space.components)) {
    const auto last = static_cast<std::uint32_t>(space.coordinates());
    message = to_dense(selected, 0, last).message(space);
  }
  message.words += Words(format.marker);
  return message;
}

/// The schedule of a dense allreduce, applied to streams.
class StreamAllreduce final : public SparseCollective {
 public:
  StreamAllreduce(const SchemeSetup& setup, AllreduceSchedule schedule)
      : setup_(setup),
        format_(format_of(setup.options)),
        reduction_(*setup.shared, setup.gamma, setup.space, format_),
        boundaries_(equal_regions(setup)),
        schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const Message mine = stream_of(selected, setup_.space, format_);
    if (DenseBlock::holds(mine.payload)) {
      co_await pay_for_densifying(comm, setup_, selected, setup_.space.components);
    }
    const auto phase = comm.phase("allreduce");
    const PartsOfRanks parts = setup_.roles->parts(comm, selected, boundaries_, *setup_.shared);
    const GradientReduction reduction(reduction_, parts.by_rank());
    const Message total = co_await schedule_(comm, mine, reduction);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = selected};
  }

 private:
  const SchemeSetup& setup_;
  StreamFormat format_;
  GradientReduction reduction_;
  Boundaries boundaries_;  ///< of the pieces around a ring
  AllreduceSchedule schedule_;
};

/// The representation of the regions in the second stage: static and dynamic sparse allreduce, and
/// topkdsa, which agrees on one by an exchange of sizes.
enum class Second : std::uint8_t { sparse, dense, agreed };

/// The words in front of each message of the split, and of the sparse regions of the allgather.
/// Messages whose representation is agreed on have none.
std::int64_t marker_of(Second second) { return second == Second::agreed ? 0 : kMarker; }

class SplitAllgather final : public SparseCollective {
 public:
  SplitAllgather(const SchemeSetup& setup, Second second)
      : setup_(setup),
        reduction_(*setup.shared, setup.gamma, setup.space),
        boundaries_(equal_regions(setup)),
        second_(second) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    SparseVector region;
    {
      const auto phase = comm.phase("split_and_reduce");
      const bool rotated = setup_.options.flag("rotation");
      // As published: all messages at once, that to rank 0 first, without waiting.
      ExchangeOrder order{.rotated = rotated};
      if (!rotated) order.bucket = setup_.ranks;
      const SplitStyle style{
          .order = order, .marker = marker_of(second_), .merges = second_ == Second::sparse};
      Task<SparseVector> task = split_and_reduce(comm, selected, boundaries_, setup_, style);
      region = co_await std::move(task);
    }
    bool dense = second_ == Second::dense;
    if (second_ == Second::agreed) {
      const auto phase = comm.phase("sizes");
      const auto size = static_cast<std::int64_t>(region.size());
      const Numbers sizes = co_await allgather_sizes(comm, size, *setup_.shared);
      const auto result = static_cast<double>(sizes.total() * setup_.space.granule);
      const StreamFormat format{.delta = setup_.options.number("dense_above")};
      dense = result > format.dense_above(setup_.space.precision) *
                           static_cast<double>(setup_.space.components);
    }
    Message mine = region.message(setup_.space);
    mine.words += Words(marker_of(second_));
    if (dense) {
      co_await pay_for_densifying(comm, setup_, region, length_of(comm.rank()));
      co_await pay_for_quantising(comm, length_of(comm.rank()));
      mine = dense_region(region, comm.rank(), iteration);
    }
    region = {};
    Task<Concatenation> gathering = gather(comm, mine);
    const Concatenation all = co_await std::move(gathering);
    if (dense) {
      co_await pay_for_quantising(comm, setup_.space.components);
      co_return Reduced{.sum = stream_of_gathered(all, reduction_),
                        .contributed = selected,
                        .gathered = all.message().words};
    }
    co_return Reduced{.sum = concatenation_of_gathered(all, *setup_.shared),
                      .contributed = selected};
  }

 private:
  static Task<Concatenation> gather(Communicator& comm, Message mine) {
    const auto phase = comm.phase("allgather");
    co_return co_await allgather(comm, std::move(mine));
  }

  [[nodiscard]] std::int64_t bits() const {
    return second_ == Second::dense ? setup_.options.integer("bits") : kFullBits;
  }

  /// The time to quantise this many components, or to restore them.
  Task<void> pay_for_quantising(Communicator& comm, std::int64_t components) const {
    if (bits() == kFullBits) co_return;
    const auto phase = comm.phase("quantisation");
    co_await comm.compute(setup_.prices.quantise.of(components));
  }

  /// The number of components of a rank's region.
  [[nodiscard]] std::int64_t length_of(Rank rank) const {
    return part_length(setup_.space.components, setup_.ranks, rank.value());
  }

  [[nodiscard]] Message dense_region(const SparseVector& region, Rank rank, int iteration) const {
    const auto at = static_cast<std::size_t>(rank.value());
    const std::int64_t length = length_of(rank);
    const DenseBlock block = to_dense(region, static_cast<std::uint32_t>(boundaries_[at]),
                                      static_cast<std::uint32_t>(boundaries_[at + 1]));
    if (bits() == kFullBits) return {block.payload(), setup_.space.value_words(length)};
    const Quantiser quantiser{.bits = static_cast<int>(bits())};
    const std::uint64_t key = random_bits(setup_.seed, iteration, rank.value());
    return {quantiser.quantised(block, setup_.space, key).payload(), quantiser.words(length)};
  }

  const SchemeSetup& setup_;
  GradientReduction reduction_;
  Boundaries boundaries_;
  Second second_;
};

Cost recursive_double_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double delta = format_of(*in.options).dense_above(in.precision);
  const double dense = in.precision.value() * n;
  const auto core = std::bit_floor(static_cast<unsigned>(in.ranks));
  const bool folds = std::cmp_not_equal(core, in.ranks);
  const double log = std::log2(static_cast<double>(core));
  // The most words, and values among them, of a stream that may have so many entries.
  const auto most = [&](double entries) {
    // A merge visits the entries of both streams.
    if (entries > delta * n) return Terms{0, dense, dense};
    return Terms{0, in.entry() * std::min(entries, n), 2 * std::min(entries, n)};
  };
  const bool is_static = std::isinf(delta);
  const double least =
      is_static ? in.entry() * in.least() : std::min(in.entry() * in.least(), dense);
  Cost cost;
  cost.counted.low = {log, least * log, (is_static ? 2 : 1) * least / in.entry() * log};
  // Without common indexes each step holds twice as much as the one before, until it is dense.
  // When ranks fold in, it may hold twice as much from the start.
  double held = folds ? 2 * in.most() : in.most();
  for (int ranks = 1; ranks < static_cast<int>(core); ranks *= 2) {
    cost.counted.high = cost.counted.high + most(held);
    held *= 2;
  }
  cost.counted.high.messages = log;
  cost.added = same({0, kMarker * log, 0});
  if (folds) {
    Terms folding = most(in.most()) + Terms{2, 2 * kMarker + most(in.most() * in.ranks).words, 0};
    cost.added = cost.added + Interval{{2, 2 * least + 2 * kMarker, 0}, folding};
  }
  return cost;
}

Cost ring_sparse_cost(const CostInput& in) {
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const double longest = std::ceil(n / p);
  const double value = in.precision.value();
  const double dense = value * n;
  Cost cost;
  cost.counted.low = {2 * (p - 1), std::min(2 * in.entry() * in.least(), dense) * (p - 1) / p, 0};
  cost.counted.high = {2 * (p - 1), 2 * dense * (p - 1) / p, 0};
  const Terms markers{0, 2 * (p - 1) * kMarker, 0};
  // The longest piece may be on the path in each step; a piece is COO up to δ, and the first, a
  // slice of a selection itself, may be full and still COO.
  const Terms uneven{
      0, value * 2 * (p - 1) * longest - 2 * dense * (p - 1) / p + in.precision.index() * longest,
      0};
  cost.added = {markers, in.ranks == 1 ? Terms{} : markers + uneven};
  return cost;
}

/// The most words above `even` that arrive when selections are concentrated.
Terms uneven_split(const CostInput& in, double even) {
  const double p = in.ranks;
  return {0, std::max(0.0, in.entry() * in.most() * (p - 1) - even), 0};
}

Cost split_allgather_cost(const CostInput& in, Second second) {
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const double share = (p - 1) / p;
  const double steps = ceil_log2(in.ranks);
  const double dense = in.precision.value() * n;
  const double entries_of_all = std::ceil(n / p) * (p - 1);
  const double all_dense = in.precision.value() * entries_of_all;
  const double most_sent = in.entry() * in.most();
  const bool sizes = second == Second::agreed;
  const auto marker = static_cast<double>(marker_of(second));
  const double messages = p - 1 + (sizes ? 2 : 1) * steps;
  Cost cost;
  Terms low{messages, 2 * in.entry() * in.least() * share, 0};
  if (sizes) low.words = std::min(low.words, dense * share);
  Terms high{messages, 0, 0};
  Terms more = uneven_split(in, most_sent * share);
  if (second == Second::dense) {
    const auto bits = static_cast<int>(in.options->integer("bits"));
    const auto words = [&](std::int64_t length) {
      return bits == kFullBits ? static_cast<double>(in.space().value_words(length).value())
                               : static_cast<double>(Quantiser{.bits = bits}.words(length).value());
    };
    const double shortest = words(in.n / in.ranks) * (p - 1);
    const double longest = words((in.n + in.ranks - 1) / in.ranks) * (p - 1);
    low.words = shortest;
    high.words = most_sent * share + longest;
  } else {
    // Concentrated regions may be full and still COO.
    const double most = in.entry() * std::min(in.most() * p, n);
    double gathered = std::min(most * std::max(steps, share), in.entry() * entries_of_all);
    if (sizes) gathered = std::max(gathered, all_dense);
    high.words = sizes ? (most_sent + dense) * share : most_sent * p;
    more.words += std::max(0.0, most_sent * share + gathered - high.words);
  }
  if (!in.options->flag("rotation")) {
    more = more + Terms{p - 1, most_sent * share + marker * (p - 1), 0};
  }
  // Dense regions need no marker: all ranks know that they are.
  const double markers = (second == Second::sparse ? 2 : 1) * marker * (p - 1);
  cost.added.low.words += markers;
  more.words += markers;
  if (sizes) {
    cost.added.low.words += p - 1;
    more.words += p - 1;
  }
  cost.counted = {low, high};
  cost.counted.high.words = std::max(high.words, low.words);
  cost.added.high = more;
  return in.ranks == 1 ? Cost{} : cost;
}

/// The option of schemes whose streams switch.
OptionInfo delta_option() {
  return {.name = kDeltaOption,
          .fallback = kDelta,
          .minimum = 0,
          .help =
              "share of the components above which a stream is dense (section 5.1: at most "
              "isize / (c + isize), 4 bytes a value and an index)",
          .maximum = kDelta};
}

SchemeInfo stream_scheme(std::string name, std::string summary, PaperCost paper,
                         std::vector<OptionInfo> options, Cost (*cost)(const CostInput&),
                         AllreduceSchedule schedule) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "SparCML (SC 2019), section 5.3",
          .paper = std::move(paper),
          .added = "the marker of each stream; folding in; remainders and uneven pieces",
          .independent_iterations = true,
          .options = std::move(options),
          .run_cost = cost,
          .collective = [schedule](const SchemeSetup& setup) {
            return std::make_unique<StreamAllreduce>(setup, schedule);
          }};
}

SchemeInfo split_scheme(std::string name, std::string summary, std::string source, PaperCost paper,
                        Second second, std::vector<OptionInfo> more_options) {
  SchemeInfo info{
      .name = std::move(name),
      .summary = std::move(summary),
      .source = std::move(source),
      .paper = std::move(paper),
      .added = second == Second::agreed ? "P-1 words of sizes; remainders; uneven regions"
                                        : "the marker of each stream; remainders; uneven regions",
      .independent_iterations = true,
      .rounds_sums = second == Second::dense,
      .stand_ins = {.uneven_parts = second == Second::dense ? UnevenParts::sent
                                                            : UnevenParts::sent_and_gathered},
      .options = std::move(more_options)};
  info.options.push_back(
      {"rotation", true, 0, "rotate destinations; false: from rank 0 to P-1, as published"});
  info.run_cost = [second](const CostInput& in) { return split_allgather_cost(in, second); };
  info.collective = [second](const SchemeSetup& setup) {
    return std::make_unique<SplitAllgather>(setup, second);
  };
  return info;
}

}  // namespace

SchemeInfo ssar_recursive_double_scheme() {
  return stream_scheme("ssar_recursive_double",
                       "sparse streams exchanged and summed with rank ^ 1, 2, 4 ...",
                       {.latency = "log P",
                        .words = "2k log P",
                        .words_high = "2k (P-1)",
                        .reduced = "2k log P",
                        .reduced_high = "2k (P-1)"},
                       {}, recursive_double_cost, allreduce_recursive_doubling);
}

SchemeInfo dsar_recursive_double_scheme() {
  return stream_scheme("dsar_recursive_double",
                       "ssar_recursive_double whose streams become dense above delta",
                       {.latency = "log P",
                        .words = "2k log P",
                        .words_high = "min(2k (P-1), n log P)",
                        .reduced = "k log P",
                        .reduced_high = "min(2k (P-1), n log P)",
                        .ours = true},
                       {delta_option()}, recursive_double_cost, allreduce_recursive_doubling);
}

SchemeInfo ring_sparse_scheme() {
  SchemeInfo info = stream_scheme(
      "ring_sparse",
      "reduce-scatter and allgather of streams around a ring, which become dense above delta",
      {.latency = "2 (P-1)",
       .words = "4k (P-1)/P",
       .words_high = "2n (P-1)/P",
       .reduced = "0",
       .reduced_high = "min(1, P-1) P ceil(n/P)",
       .ours = true},
      {delta_option()}, ring_sparse_cost, allreduce_ring);
  info.stand_ins.uneven_parts = UnevenParts::sent;
  return info;
}

SchemeInfo ssar_split_allgather_scheme() {
  return split_scheme("ssar_split_allgather",
                      "regions summed by direct exchange; allgather of the sparse sums",
                      "SparCML (SC 2019), section 5.3.2",
                      {.latency = "P-1 + log P",
                       .words = "4k (P-1)/P",
                       .words_high = "2k P",
                       .reduced_high = "(P-1) min(k (P+2)/2, k + ceil(n/P))"},
                      Second::sparse, {});
}

SchemeInfo dsar_split_allgather_scheme() {
  const OptionInfo bits{"bits",
                        std::int64_t{kFullBits},
                        2,
                        "of a value in the second stage: 32, or 8, 4, 2 by QSGD",
                        {2, 4, 8, 32}};
  return split_scheme(
      "dsar_split_allgather",
      "regions summed by direct exchange; allgather of the dense sums, also in few bits",
      "SparCML (SC 2019), sections 5.3.3 and 6",
      {.latency = "P-1 + log P",
       .words = "n bits/32 (P-1)/P",
       .words_high = "2k + n bits/32 (P-1)/P",
       .reduced_high = "k (P-1)"},
      Second::dense, {bits});
}

SchemeInfo topkdsa_scheme() {
  const OptionInfo above{"dense_above", 0.5, 0,
                         "share of n above which the result is sent dense (published: 1/3)"};
  return split_scheme(
      "topkdsa",
      "sizes; regions summed by direct exchange; allgather, sparse or dense as all agree",
      "Ok-Topk (PPoPP 2022), Table 1, TopkDSA",
      {.latency = "P + 2 log P",
       .words = "4k (P-1)/P",
       .words_high = "(2k + n) (P-1)/P",
       .reduced_high = "k (P-1)"},
      Second::agreed, {above});
}

}  // namespace thinwire::algorithms
