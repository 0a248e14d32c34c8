// Dense compressors: every component is sent in few bits. Quantised values cannot be added on the
// way, so the first two, which DRAGONN is compared with, send them around a ring allgather.
//
//   signsgd  one bit per component and one scale: the mean magnitude, so that with error feedback
//            nothing is lost (Bernstein et al., ICML 2018; Karimireddy et al., ICML 2019)
//   qsgd     `bits` per component (2, 4, 8) and a scale per 1024 (Alistarh et al., NIPS 2017)
//   quantised_alltoall  `bits` per component and a scale per 1024: block r of every rank's gradient
//            goes to rank r, which adds the values, and quantises the sum for an allgather around a
//            ring. This is the schedule of ZeRO++'s qgZ (Wang et al., arXiv:2306.10209, 2023) without
//            its second level for nodes, and of the compressed allreduce of 1-bit Adam (Tang et al.,
//            ICML 2021). The papers were not at hand: the schedule is as DeepSpeed describes it
//            (runtime/comm, runtime/fp16/onebit). With 1 bit, as in 1-bit Adam, a block is its signs
//            and one scale, the root of its mean square. What 1-bit Adam keeps of the error of the
//            second quantisation is left out.
//
// Cost of the first two: (P-1) (α + Lβ), where signsgd has L = ceil(n/32) + 1 words and qsgd
// ceil(n bits/32) + ceil(n/1024); exact at any P. γ: each rank adds P dense vectors, n P words.
// Cost of quantised_alltoall: 2 (P-1) (α + Lβ), n (P-1)/P γ, for blocks of b = n/P components, with
// L = ceil(b bits/32) + ceil(b/1024), or ceil(b/32) + 1 with 1 bit; exact if P divides n. The error is
// at most one step of each rank's levels and one step of the sum's.
// With a device: the price of quantising n components (signsgd also scans them), and of restoring the
// components of P ranks. signsgd loses more than half of a gradient, so in a training it
// also pays for what error feedback reads and writes, which `workload.feedback` chooses. The rounding of
// the other two is unbiased, and they keep nothing.
// Restrictions: none. Memory: n values per rank during the allgather.
//
// Worked examples: signsgd, P = 4, n = 3200: 3 messages of 101 words. quantised_alltoall, the same
// with 8 bits: 6 messages of 201 words.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/schemes/dense.hpp"
#include "sim/core/gradient/quantiser.hpp"

namespace thinwire::algorithms {

namespace {

/// Compresses a gradient to the message that is sent, and gives its length.
using Compress = Message (*)(const DenseBlock& gradient, const SchemeSetup& setup,
                             std::uint64_t key);
using Length = Words (*)(std::int64_t n, const Options& options);
/// The time in which a device compresses n components.
using Time = Seconds (*)(const WorkPrices& prices, std::int64_t n);

struct Compressing {
  Compress compress;
  Length length;
  Time of;
  bool remembers;  ///< whether what compressing changes is kept (error feedback)
};

Words sign_words(std::int64_t n, const Options& /*options*/) { return Words((n + 31) / 32 + 1); }

Message signs(const DenseBlock& gradient, const SchemeSetup& setup, std::uint64_t /*key*/) {
  const Words words = sign_words(setup.space.components, setup.options);
  if (gradient.is_valueless()) return {gradient.payload(), words};
  double sum = 0;
  for (const float value : gradient.values()) sum += std::abs(value);
  const auto count = static_cast<double>(gradient.size());
  const auto scale = static_cast<float>(count == 0 ? 0 : sum / count);
  std::vector<float> values(gradient.size());
  std::ranges::transform(gradient.values(), values.begin(),
                         [scale](float value) { return std::copysign(scale, value); });
  // One scale for all of them.
  const std::int64_t bucket = std::max<std::int64_t>(1, static_cast<std::int64_t>(gradient.size()));
  Quantisation how{.bits = 1, .bucket = bucket, .scales = {scale}};
  return {DenseBlock(0, std::move(values), std::move(how)).payload(), words};
}

/// The mean magnitude takes a pass of its own.
Seconds price_of_signs(const WorkPrices& prices, std::int64_t n) {
  return prices.scan.of(n) + prices.quantise.of(n);
}

Words qsgd_words(std::int64_t n, const Options& options) {
  return Quantiser{.bits = static_cast<int>(options.integer("bits"))}.words(n);
}

Message qsgd(const DenseBlock& gradient, const SchemeSetup& setup, std::uint64_t key) {
  const Quantiser quantiser{.bits = static_cast<int>(setup.options.integer("bits"))};
  return {quantiser.quantised(gradient, setup.space, key).payload(),
          quantiser.words(setup.space.components)};
}

Seconds price_of_qsgd(const WorkPrices& prices, std::int64_t n) { return prices.quantise.of(n); }

class Quantised final : public Scheme {
 public:
  Quantised(const SchemeSetup& setup, Compressing compressing)
      : setup_(setup), compressing_(compressing) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const std::int64_t components = setup_.space.components;
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(compressing_.of(setup_.prices, components));
    }
    const std::uint64_t key = random_bits(setup_.seed, iteration, comm.rank().value());
    const Message mine = compressing_.compress(std::get<DenseBlock>(gradient), setup_, key);
    gradient = {};
    Concatenation all = Concatenation::of(comm.rank(), mine);
    {
      const auto phase = comm.phase("allgather");
      all = co_await allgather_ring(comm, mine);
    }
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(setup_.prices.quantise.of(components) * setup_.ranks);
    }
    const auto phase = comm.phase("local_reduction");
    const auto words = static_cast<double>(components) * setup_.ranks;
    co_await comm.compute(setup_.gamma.word * words);
    co_return Reduced{.sum = sum_of_gathered_blocks(all, *setup_.shared),
                      .contributed = DenseBlock::from(mine.payload),
                      .gathered = all.message().words,
                      .sent = mine.words};
  }

  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    co_await run_backward(comm, step, 0);
    if (compressing_.remembers) co_await remember(comm, step, step.space().components);
    Task<Reduced> task = Scheme::allreduce_in_training(comm, std::move(gradient), iteration, step);
    gradient = {};
    co_return co_await std::move(task);
  }

 private:
  const SchemeSetup& setup_;
  Compressing compressing_;
};

/// The words of a block of quantised values: with 1 bit its signs, and one scale.
Words block_words(std::int64_t components, int bits) {
  if (bits == 1) return sign_words(components, {});
  return Quantiser{.bits = bits}.words(components);
}

/// Signs, and as the scale the root of the mean square.
Payload signs_of(const DenseBlock& block) {
  if (block.is_valueless()) return block.payload();
  double squares = 0;
  for (const float value : block.values()) squares += static_cast<double>(value) * value;
  const auto count = static_cast<double>(std::max<std::size_t>(1, block.size()));
  const auto scale = static_cast<float>(std::sqrt(squares / count));
  std::vector<float> values(block.size());
  std::ranges::transform(block.values(), values.begin(),
                         [scale](float value) { return std::copysign(scale, value); });
  const std::int64_t bucket = std::max<std::int64_t>(1, static_cast<std::int64_t>(block.size()));
  return DenseBlock(block.first(), std::move(values),
                    Quantisation{.bits = 1, .bucket = bucket, .scales = {scale}})
      .payload();
}

/// A reduce-scatter by all-to-all and an allgather, both of quantised values.
class QuantisedAlltoall final : public Scheme {
 public:
  explicit QuantisedAlltoall(const SchemeSetup& setup)
      : setup_(setup),
        reduction_(*setup.shared, setup.gamma, setup.space),
        quantiser_{.bits = static_cast<int>(setup.options.integer("bits"))} {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const int size = comm.size();
    const int own = comm.rank().value();
    const std::uint64_t key = random_bits(setup_.seed, iteration, own);
    const Message mine = message_of(gradient, setup_.space);
    gradient = {};
    std::vector<Message> blocks;
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(setup_.prices.quantise.of(setup_.space.components));
      for (int rank = 0; rank < size; ++rank) {
        blocks.push_back(
            quantised(reduction_.cut(mine, {rank, rank + 1}, size), length_of(rank), key));
      }
    }
    Task<Message> reducing = sum_of_blocks(comm, blocks);
    Message sum = co_await std::move(reducing);
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(setup_.prices.quantise.of(length_of(own)) * (size + 1));
      sum = quantised(sum, length_of(own), mix(key));
    }
    Concatenation all = Concatenation::of(comm.rank(), sum);
    {
      const auto phase = comm.phase("allgather");
      all = co_await allgather_ring(comm, sum);
    }
    const auto phase = comm.phase("quantisation");
    co_await comm.compute(setup_.prices.quantise.of(setup_.space.components));
    Words sent;
    for (const Message& block : blocks) sent += block.words;
    const Message contributed = reduction_.join(blocks);
    co_return Reduced{.sum = stream_of_gathered(all, reduction_),
                      .contributed = stream_from(contributed.payload),
                      .gathered = all.message().words,
                      .sent = sent};
  }

  /// Signs lose more than half of a gradient, which a rank keeps.
  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    co_await run_backward(comm, step, 0);
    if (quantiser_.bits == 1) co_await remember(comm, step, step.space().components);
    Task<Reduced> task = Scheme::allreduce_in_training(comm, std::move(gradient), iteration, step);
    gradient = {};
    co_return co_await std::move(task);
  }

 private:
  [[nodiscard]] std::int64_t length_of(int rank) const {
    return part_length(setup_.space.components, setup_.ranks, rank);
  }
  [[nodiscard]] Message quantised(const Message& block, std::int64_t components,
                                  std::uint64_t key) const {
    const DenseBlock values = DenseBlock::from(block.payload);
    const Words words = block_words(components, quantiser_.bits);
    if (quantiser_.bits == 1) return {signs_of(values), words};
    return {quantiser_.quantised(values, setup_.space, key).payload(), words};
  }

  /// Sends every rank its block, and adds those that come for this one.
  Task<Message> sum_of_blocks(Communicator& comm, std::span<const Message> blocks) const {
    const auto phase = comm.phase("alltoall");
    const int size = comm.size();
    const int own = comm.rank().value();
    const Words words(length_of(own));
    const Part part{{own, own + 1}, size};
    Message total = blocks[static_cast<std::size_t>(own)];
    total.words = words;
    for (int step = 1; step < size; ++step) {
      const int to = (own + step) % size;
      const Rank from((own + size - step) % size);
      Message theirs = co_await comm.sendrecv(Rank(to), blocks[static_cast<std::size_t>(to)], from,
                                              kAlltoallTag);
      theirs.words = words;
      Summed summed = reduction_.sum(total, theirs, part);
      co_await comm.compute(summed.work);
      total = std::move(summed.message);
    }
    co_return total;
  }

  const SchemeSetup& setup_;
  GradientReduction reduction_;
  Quantiser quantiser_;
};

Cost quantised_alltoall_cost(const CostInput& in) {
  const auto bits = static_cast<int>(in.options->integer("bits"));
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const auto run = [&](std::int64_t length) {
    const auto words = static_cast<double>(block_words(length, bits).value());
    return Terms{2 * (p - 1), 2 * (p - 1) * words, (p - 1) * static_cast<double>(length)};
  };
  const Interval ends{run(in.n / in.ranks), run((in.n + in.ranks - 1) / in.ranks)};
  const double share = (p - 1) / p;
  return interval_cost({0, 2 * n * share * bits / 32, n * share}, ends);
}

SchemeInfo quantised_alltoall_scheme(std::vector<OptionInfo> options) {
  return {
      .name = "quantised_alltoall",
      .summary =
          "blocks in few bits to their ranks, which sum them; the sums in few bits around a ring",
      .source = "ZeRO++ (arXiv:2306.10209), qgZ; 1-bit Adam (ICML 2021), compressed allreduce",
      .paper = {.latency = "2 (P-1)",
                .words = "2n bits/32 (P-1)/P",
                .reduced = "n (P-1)/P",
                .ours = true},
      .exact_when = "P divides n",
      .added = "rounding up to words; scales",
      .dense = true,
      .approximate = true,
      .rounds_sums = true,
      .options = std::move(options),
      .run_cost = quantised_alltoall_cost,
      .make = [](const SchemeSetup& setup) { return std::make_unique<QuantisedAlltoall>(setup); }};
}

SchemeInfo quantised_scheme(std::string name, std::string summary, std::string source,
                            std::string words, std::vector<OptionInfo> options,
                            Compressing compressing) {
  const auto cost = [length = compressing.length](const CostInput& in) -> Cost {
    const double p = in.ranks;
    const auto each = static_cast<double>(length(in.n, *in.options).value());
    const bool has_bits = in.options->all().count("bits") == 1;
    const auto bits = static_cast<double>(has_bits ? in.options->integer("bits") : 1);
    const double values = static_cast<double>(in.n) * bits / 32;
    return {.paper = {},
            .counted = same({p - 1, values * (p - 1), 0}),
            .added = same({0, (each - values) * (p - 1), 0}),
            .exact = true};
  };
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = std::move(source),
          .paper = {.latency = "P-1", .words = std::move(words), .reduced = "n P"},
          .exact_when = "always",
          .added = "rounding up to words; scales",
          .dense = true,
          .approximate = true,
          .remembers = compressing.remembers,
          .options = std::move(options),
          .run_cost = cost,
          .make = [compressing](const SchemeSetup& setup) {
            return std::make_unique<Quantised>(setup, compressing);
          }};
}

}  // namespace

std::vector<SchemeInfo> quantised_schemes() {
  const OptionInfo bits{"bits", std::int64_t{8}, 2, "of a value: 2, 4 or 8", {2, 4, 8}};
  return {quantised_scheme("signsgd",
                           "signs and the mean magnitude, gathered around a ring; each rank sums",
                           "DRAGONN (ICML 2022), Figure 7; signSGD (ICML 2018)", "n/32 (P-1)", {},
                           {signs, sign_words, price_of_signs, true}),
          quantised_scheme("qsgd", "values in few bits, gathered around a ring; each rank sums",
                           "DRAGONN (ICML 2022), Figure 7; QSGD (NIPS 2017)", "n bits/32 (P-1)",
                           {bits}, {qsgd, qsgd_words, price_of_qsgd, false}),
          quantised_alltoall_scheme({{"bits",
                                      std::int64_t{8},
                                      1,
                                      "of a value: 2, 4 or 8; 1: signs, as 1-bit Adam",
                                      {1, 2, 4, 8}}})};
}

}  // namespace thinwire::algorithms
