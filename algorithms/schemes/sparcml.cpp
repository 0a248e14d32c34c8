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
#include "sim/core/gradient/quantiser.hpp"

namespace thinwire::algorithms {

namespace {

/// The selection as a stream: dense if COO would be longer.
Stream stream_of(const SparseVector& selected, const GradientSpace& space) {
  const auto components = static_cast<std::int64_t>(selected.size()) * space.granule;
  if (components <= space.dense_above()) return selected;
  return to_dense(selected, 0, static_cast<std::uint32_t>(space.coordinates()));
}

/// The schedule of a dense allreduce, applied to streams.
class StreamAllreduce final : public SparseCollective {
 public:
  StreamAllreduce(const SchemeSetup& setup, AllreduceSchedule schedule)
      : setup_(setup), reduction_(*setup.shared, setup.gamma, setup.space), schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    const auto phase = comm.phase("allreduce");
    const Message mine = message_of(stream_of(selected, setup_.space), setup_.space);
    const Message total = co_await schedule_(comm, mine, reduction_);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = selected};
  }

 private:
  const SchemeSetup& setup_;
  GradientReduction reduction_;
  AllreduceSchedule schedule_;
};

/// The representation of the regions in the second stage.
enum class Second : std::uint8_t { streams, dense, agreed };

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
      const SplitStyle style{.order = {.rotated = rotated, .all_at_once = !rotated}};
      Task<SparseVector> task = split_and_reduce(comm, selected, boundaries_, setup_, style);
      region = co_await std::move(task);
    }
    bool dense = second_ == Second::dense;
    if (second_ == Second::agreed) {
      const auto phase = comm.phase("sizes");
      const auto size = static_cast<std::int64_t>(region.size());
      const Numbers sizes = co_await allgather_sizes(comm, size, *setup_.shared);
      const auto result = static_cast<double>(sizes.total() * setup_.space.granule);
      dense = result >
              setup_.options.number("dense_above") * static_cast<double>(setup_.space.components);
    }
    const auto phase = comm.phase("allgather");
    const Message mine = region_message(region, comm.rank(), dense, iteration);
    region = {};
    const Concatenation all = co_await allgather(comm, mine);
    co_return Reduced{.sum = stream_of_gathered(all, reduction_, *setup_.shared),
                      .contributed = selected};
  }

 private:
  [[nodiscard]] Message region_message(const SparseVector& region, Rank rank, bool dense,
                                       int iteration) const {
    const GradientSpace& space = setup_.space;
    const auto at = static_cast<std::size_t>(rank.value());
    const std::int64_t length = part_begin(space.components, setup_.ranks, rank.value() + 1) -
                                part_begin(space.components, setup_.ranks, rank.value());
    Message sparse = region.message(space);
    if (!dense && (second_ == Second::agreed || sparse.words.value() <= length)) return sparse;
    const DenseBlock block = to_dense(region, static_cast<std::uint32_t>(boundaries_[at]),
                                      static_cast<std::uint32_t>(boundaries_[at + 1]));
    const auto bits = second_ == Second::dense ? setup_.options.integer("bits") : kFullBits;
    if (bits == kFullBits) return {block.payload(), Words(length)};
    const Quantiser quantiser{.bits = static_cast<int>(bits)};
    const std::uint64_t key = random_bits(setup_.seed, iteration, rank.value());
    return {quantiser.quantised(block, space, key).payload(), quantiser.words(length)};
  }

  const SchemeSetup& setup_;
  GradientReduction reduction_;
  Boundaries boundaries_;
  Second second_;
};

Cost recursive_double_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const auto core = std::bit_floor(static_cast<unsigned>(in.ranks));
  const bool folds = std::cmp_not_equal(core, in.ranks);
  const double log = std::log2(static_cast<double>(core));
  const double least = std::min(2 * in.least(), n);
  // Without common indexes: each step holds twice as much as the one before, until it is dense.
  double high = 0;
  double held = in.most();
  double held_reduced = 0;
  for (int ranks = 1; ranks < static_cast<int>(core); ranks *= 2) {
    // When ranks fold in, a step may hold twice as much from the start.
    const double sent = folds ? 2 * held : held;
    high += std::min(2 * sent, n);
    held_reduced += std::min(sent, n);
    held *= 2;
  }
  Cost cost;
  cost.counted.low = {log, least * log, 0};
  cost.counted.high = {log, std::max(high, least * log), 0};
  if (folds) {
    const double all = std::min(2 * in.most() * in.ranks, n);
    cost.added.low = {2, 2 * least, 0};
    cost.added.high = {2, std::min(2 * in.most(), n) + all, std::min(in.most(), n) + held_reduced};
  }
  return cost;
}

Cost ring_sparse_cost(const CostInput& in) {
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const double longest = std::ceil(n / p);
  Cost cost;
  cost.counted.low = {2 * (p - 1), std::min(4 * in.least(), n) * (p - 1) / p, 0};
  cost.counted.high = {2 * (p - 1), 2 * n * (p - 1) / p, 0};
  // The longest piece may be on the path in each step; a piece is COO up to δ, and the first, a
  // slice of a selection itself, may be full and still COO.
  const Terms uneven{0, 2 * (p - 1) * longest - 2 * n * (p - 1) / p + longest, 0};
  cost.added.high = in.ranks == 1 ? Terms{} : uneven;
  return cost;
}

/// The most words above `even` that arrive when selections are concentrated.
Terms uneven_split(const CostInput& in, double even) {
  const double p = in.ranks;
  return {0, std::max(0.0, 2 * in.most() * (p - 1) - even), 0};
}

Cost split_allgather_cost(const CostInput& in, Second second) {
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const double share = (p - 1) / p;
  const double steps = ceil_log2(in.ranks);
  const double all_dense = std::ceil(n / p) * (p - 1);
  const bool sizes = second == Second::agreed;
  const double messages = p - 1 + (sizes ? 2 : 1) * steps;
  Cost cost;
  Terms low{messages, std::min(4 * in.least(), n) * share, 0};
  Terms high{messages, 0, 0};
  Terms more = uneven_split(in, 2 * in.most() * share);
  if (second == Second::dense) {
    const auto bits = static_cast<int>(in.options->integer("bits"));
    const auto words = [&](std::int64_t length) {
      return bits == kFullBits ? static_cast<double>(length)
                               : static_cast<double>(Quantiser{.bits = bits}.words(length).value());
    };
    const double shortest = words(in.n / in.ranks) * (p - 1);
    const double longest = words((in.n + in.ranks - 1) / in.ranks) * (p - 1);
    low.words = shortest;
    high.words = 2 * in.most() * share + longest;
  } else {
    // Concentrated regions may take one word per component in COO, and two if agreed on by sizes.
    const double most = std::min(2 * in.most() * p, (sizes ? 2 : 1) * n);
    const double gathered = std::min(most * std::max(steps, share), (sizes ? 2 : 1) * all_dense);
    high.words = sizes ? (2 * in.most() + n) * share : 2 * in.most() * p;
    more.words += std::max(0.0, 2 * in.most() * share + std::max(gathered, all_dense) - high.words);
  }
  if (!in.options->flag("rotation")) more = more + Terms{p - 1, 2 * in.most() * share, 0};
  if (sizes) {
    cost.added.low.words += p - 1;
    more.words += p - 1;
  }
  cost.counted = {low, high};
  cost.counted.high.words = std::max(high.words, low.words);
  cost.added.high = more;
  return in.ranks == 1 ? Cost{} : cost;
}

SchemeInfo stream_scheme(std::string name, std::string summary, PaperCost paper,
                         Cost (*cost)(const CostInput&), AllreduceSchedule schedule) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "SparCML (SC 2019), section 5.3",
          .paper = std::move(paper),
          .added = "folding in; remainders and uneven pieces",
          .run_cost = cost,
          .collective = [schedule](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
            return std::make_unique<StreamAllreduce>(setup, schedule);
          }};
}

SchemeInfo split_scheme(std::string name, std::string summary, std::string source, PaperCost paper,
                        Second second, std::vector<OptionInfo> more_options) {
  SchemeInfo info{.name = std::move(name),
                  .summary = std::move(summary),
                  .source = std::move(source),
                  .paper = std::move(paper),
                  .added = second == Second::agreed
                               ? "P-1 words of sizes; remainders; uneven regions"
                               : "remainders; uneven regions",
                  .options = std::move(more_options)};
  info.options.push_back(
      {"rotation", true, 0, "rotate destinations; false: from rank 0 to P-1, as published"});
  info.run_cost = [second](const CostInput& in) { return split_allgather_cost(in, second); };
  info.collective = [second](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
    return std::make_unique<SplitAllgather>(setup, second);
  };
  return info;
}

}  // namespace

SchemeInfo ssar_recursive_double_scheme() {
  return stream_scheme("ssar_recursive_double", "sparse streams exchanged with rank ^ 1, 2, 4 ...",
                       {.latency = "log P",
                        .words = "2k log P",
                        .words_high = "2k (P-1)",
                        .reduced = "min(k, n/2) log P",
                        .reduced_high = "min(2k (P-1), n log P)"},
                       recursive_double_cost, allreduce_recursive_doubling);
}

SchemeInfo ring_sparse_scheme() {
  return stream_scheme("ring_sparse", "sparse streams around a ring",
                       {.latency = "2 (P-1)",
                        .words = "4k (P-1)/P",
                        .words_high = "2n (P-1)/P",
                        .reduced = "0",
                        .reduced_high = "(P-1) ceil(n/P)"},
                       ring_sparse_cost, allreduce_ring);
}

SchemeInfo ssar_split_allgather_scheme() {
  return split_scheme("ssar_split_allgather", "regions reduced by direct exchange, then gathered",
                      "SparCML (SC 2019), section 5.3.2",
                      {.latency = "P-1 + log P",
                       .words = "4k (P-1)/P",
                       .words_high = "2k P",
                       .reduced_high = "k (P-1)"},
                      Second::streams, {});
}

SchemeInfo dsar_split_allgather_scheme() {
  const OptionInfo bits{"bits",
                        std::int64_t{kFullBits},
                        2,
                        "of a value in the second stage: 32, or 8, 4, 2 by QSGD",
                        {2, 4, 8, 32}};
  return split_scheme("dsar_split_allgather", "regions reduced by direct exchange, gathered dense",
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
  return split_scheme("topkdsa", "regions reduced, then gathered sparse or dense as agreed",
                      "Ok-Topk (PPoPP 2022), Table 1, TopkDSA",
                      {.latency = "P + 2 log P",
                       .words = "4k (P-1)/P",
                       .words_high = "(2k + n) (P-1)/P",
                       .reduced_high = "k (P-1)"},
                      Second::agreed, {above});
}

}  // namespace thinwire::algorithms
