#include "algorithms/schemes/powersgd.hpp"

#include <array>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/low_rank.hpp"
#include "algorithms/schemes/dense.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kQueryDraws = 0x9031;  // separates these draws from the gradients' draws
constexpr const char* kProducts = "products";

Message block_message(std::vector<float> values) {
  const Words words(static_cast<std::int64_t>(values.size()));
  return {DenseBlock(0, std::move(values)).payload(), words};
}

Message valueless_message(std::int64_t words) {
  return {DenseBlock::valueless(0, static_cast<std::uint32_t>(words)).payload(), Words(words)};
}

std::span<const float> values_in(const Message& message) {
  return DenseBlock::from(message.payload).values();
}

/// Why 'warm_start' changes nothing, or empty.
std::string why_no_query_matters(const OptionUse& use) {
  if (use.values) return {};
  return "without error feedback no result depends on values; set error_feedback=true, or leave it "
         "out";
}

class PowerSgd final : public Scheme {
 public:
  explicit PowerSgd(const SchemeSetup& setup)
      : setup_(setup),
        layout_(low_rank_layout(setup.space.components, setup.tensors, setup.rows,
                                setup.options.integer("rank"))),
        left_(*setup.shared, setup.gamma, {.components = layout_.p_words, .granule = 1}),
        right_(*setup.shared, setup.gamma, {.components = layout_.q_words, .granule = 1}) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const DenseBlock mine = std::get<DenseBlock>(std::move(gradient));
    gradient = {};
    const bool valued = setup_.space.granule == 1 && !mine.is_valueless();
    co_await multiply(comm);
    Message left = valueless_message(layout_.p_words);
    if (valued) {
      left = block_message(left_factors(layout_, mine.values(), values_in(query(iteration))));
    }
    {
      const auto phase = comm.phase("left_factors");
      left = co_await allreduce_rabenseifner(comm, std::move(left), left_);
    }
    {
      const auto phase = comm.phase("orthogonalisation");
      co_await comm.compute(orthonormal_time(layout_, setup_.prices));
    }
    if (valued) left = basis_of(left);
    co_await multiply(comm);
    Message right = valueless_message(layout_.q_words);
    if (valued) {
      right = block_message(right_factors(layout_, mine.values(), values_in(left)));
    }
    if (layout_.q_words > 0) {
      const auto phase = comm.phase("right_factors");
      right = co_await allreduce_rabenseifner(comm, std::move(right), right_);
    }
    co_await multiply(comm);
    Reduced reduced{.sum = DenseBlock::valueless(0, mine.last()),
                    .contributed = DenseBlock::valueless(0, mine.last()),
                    .gathered = Words(layout_.p_words + layout_.q_words),
                    .sent = Words(layout_.p_words + layout_.q_words)};
    if (valued) {
      reduced.sum = DenseBlock::from(product(left, right, "powersgd sum", 1).payload);
      reduced.contributed = contribution(mine, left, right);
      last_query_ = std::move(right);
    }
    co_return reduced;
  }

  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    co_await run_backward(comm, step, 0);
    co_await remember(comm, step, step.space().components);
    Task<Reduced> task = allreduce(comm, std::move(gradient), iteration);
    gradient = {};
    Reduced reduced = co_await std::move(task);
    const auto phase = comm.phase("copy");
    co_await comm.compute(copying(step.prices(), reduced.sent, reduced.gathered));
    co_return reduced;
  }

 private:
  /// The time of a product of each matrix.
  Task<void> multiply(Communicator& comm) const {
    const auto phase = comm.phase(kProducts);
    co_await comm.compute(product_time(layout_, setup_.prices));
  }

  /// The same on all ranks.
  [[nodiscard]] Message query(int iteration) {
    const bool reuse =
        setup_.options.flag("warm_start") && static_cast<bool>(last_query_.payload.body);
    const std::uint64_t seed = powersgd_query_seed(setup_.seed, iteration);
    if (!reuse) {
      const Fingerprint key{seed, static_cast<std::uint64_t>(iteration)};
      return setup_.shared->once("powersgd query", key, {},
                                 [&] { return block_message(drawn_query(layout_, seed)); });
    }
    const std::array inputs{last_query_};
    return setup_.shared->once("powersgd reused query", inputs, [&] {
      return block_message(reused_query(layout_, values_in(last_query_), seed));
    });
  }

  [[nodiscard]] Message basis_of(const Message& left) const {
    const std::array inputs{left};
    return setup_.shared->once("powersgd basis", inputs, [&] {
      return block_message(orthonormal(layout_, values_in(left)));
    });
  }

  [[nodiscard]] Message product(const Message& left, const Message& right, const char* what,
                                double scale) const {
    const std::array inputs{left, right};
    return setup_.shared->once(what, inputs, [&] {
      return block_message(product_of_factors(layout_, setup_.space.components, values_in(left),
                                              values_in(right), scale));
    });
  }

  /// A P-th of the approximation, and the rank's own vectors.
  [[nodiscard]] DenseBlock contribution(const DenseBlock& mine, const Message& left,
                                        const Message& right) const {
    DenseBlock share =
        DenseBlock::from(product(left, right, "powersgd contribution", 1.0 / setup_.ranks).payload);
    if (layout_.vectors.empty()) return share;
    std::vector<float> values(share.values().begin(), share.values().end());
    for (const PlainVector& vector : layout_.vectors) {
      const auto own = mine.values().subspan(static_cast<std::size_t>(vector.first),
                                             static_cast<std::size_t>(vector.components));
      std::ranges::copy(own, values.begin() + vector.first);
    }
    return {0, std::move(values)};
  }

  const SchemeSetup& setup_;
  LowRankLayout layout_;
  GradientReduction left_;
  GradientReduction right_;
  Message last_query_;
};

Cost powersgd_cost(const CostInput& in) {
  static const std::vector<std::int64_t> kOne;
  const LowRankLayout layout = low_rank_layout(in.n, in.tensors == nullptr ? kOne : *in.tensors, {},
                                               in.options->integer("rank"));
  const Interval run =
      rabenseifner_terms(in.ranks, layout.p_words) + rabenseifner_terms(in.ranks, layout.q_words);
  const double p = in.ranks;
  const double share = static_cast<double>(layout.p_words + layout.q_words) * (p - 1) / p;
  Cost cost = interval_cost({0, 2 * share, share}, run);
  cost.exact = std::has_single_bit(static_cast<unsigned>(in.ranks));
  return cost;
}

}  // namespace

std::uint64_t powersgd_query_seed(std::uint64_t seed, int iteration) {
  return random_bits(seed, kQueryDraws, iteration);
}

SchemeInfo powersgd_scheme() {
  return {.name = "powersgd",
          .summary =
              "allreduce of the left factors of low rank of all matrices, then of the right ones",
          .source = "PowerSGD (NeurIPS 2019), Algorithm 1",
          .needs = "granule 1 for exact values",
          .paper = {.latency = "4 log P",
                    .words = "4 min(rank, ceil(sqrt n)) ceil(sqrt n) (P-1)/P",
                    .reduced = "2 min(rank, ceil(sqrt n)) ceil(sqrt n) (P-1)/P",
                    .ours = true},
          .exact_when = "P is a power of two",
          .added = "remainders of the pieces; folding in; tensors of a point instead of one matrix",
          .dense = true,
          .approximate = true,
          .remembers = true,
          .takes_tensors = true,
          .own_format = true,
          .options = {{"rank", std::int64_t{2}, 1, "columns of each factor"},
                      {.name = "warm_start",
                       .fallback = true,
                       .minimum = 0,
                       .help = "the right factors are the next query; false: it is drawn each time",
                       .idle = why_no_query_matters}},
          .run_cost = powersgd_cost,
          .make = [](const SchemeSetup& setup) { return std::make_unique<PowerSgd>(setup); }};
}

}  // namespace thinwire::algorithms
