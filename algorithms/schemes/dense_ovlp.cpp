#include "algorithms/schemes/dense_ovlp.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

const std::string kBucketWords = "bucket_words";
const std::string kBucketBits = "bucket_bits";
const std::string kRing = "ring";

Task<Message> reduce_bucket(Communicator& strand, Message mine, const SchemeSetup& setup,
                            ComponentRange components, const BucketAllreduce& allreduce) {
  {
    const auto copy = strand.phase("copy");
    co_await strand.compute(copying(setup.prices, mine.words, mine.words));
  }
  const auto phase = strand.phase("allreduce");
  const GradientReduction reduction(*setup.shared, setup.gamma, setup.space, components);
  co_return co_await allreduce(strand, std::move(mine), reduction);
}

class DenseOvlp final : public Scheme {
 public:
  DenseOvlp(const SchemeSetup& setup, BucketAllreduce allreduce)
      : setup_(setup),
        buckets_(dense_buckets(setup.space, setup.options)),
        allreduce_(std::move(allreduce)) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    TrainingStep done({}, setup_.prices, setup_.space);
    Task<Reduced> task = allreduce_in_training(comm, std::move(gradient), iteration, done);
    co_return co_await std::move(task);
  }

  /// A bucket starts when the last of its gradients is ready.
  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int /*iteration*/,
                                      TrainingStep& step) override {
    const Message whole = message_of(gradient, setup_.space);
    std::vector<Request> started;
    for (std::int64_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      co_await run_backward(comm, step, buckets_.components(bucket).first);
      started.push_back(buckets_.start(comm, setup_, whole, bucket, allreduce_));
    }
    const auto phase = comm.phase("wait");
    std::vector<Message> sums = co_await comm.wait_all(started);
    const Message total = DenseBuckets::join(setup_, std::move(sums));
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  SchemeSetup setup_;
  DenseBuckets buckets_;
  BucketAllreduce allreduce_;
};

}  // namespace

DenseBuckets::DenseBuckets(std::int64_t components, std::int64_t of_bucket)
    : components_(components),
      of_bucket_(of_bucket),
      count_(std::max<std::int64_t>(1, (components - 1) / of_bucket + 1)) {}

ComponentRange DenseBuckets::components(std::int64_t bucket) const {
  const std::int64_t last = components_ - bucket * of_bucket_;
  return {.first = std::max<std::int64_t>(0, last - of_bucket_), .last = last};
}

Request DenseBuckets::start(Communicator& comm, const SchemeSetup& setup, const Message& gradient,
                            std::int64_t bucket, const BucketAllreduce& allreduce) const {
  const ComponentRange range = components(bucket);
  Message mine = GradientReduction(*setup.shared, setup.gamma, setup.space, range)
                     .cut(gradient, {.first = 0, .last = 1}, 1);
  return comm.start([mine = std::move(mine), &setup, &allreduce, range](Communicator& strand) {
    return reduce_bucket(strand, mine, setup, range, allreduce);
  });
}

Message DenseBuckets::join(const SchemeSetup& setup, std::vector<Message> sums) {
  std::ranges::reverse(sums);
  return GradientReduction(*setup.shared, setup.gamma, setup.space).join(sums);
}

OptionInfo bucket_option() {
  return {.name = kBucketWords,
          .fallback = std::int64_t{6'553'600},
          .minimum = 1,
          .help = "words of a bucket; 25 MiB, as in PyTorch DDP"};
}

OptionInfo bucket_bits_option() {
  return {.name = kBucketBits,
          .fallback = std::int64_t{0},
          .minimum = 0,
          .help =
              "bits of a value in a bucket; 32: buckets as before, compressed on the wire to "
              "--value-bits, as hooks do (not charged); 0: as on the wire, as of a model in BF16",
          .maximum = 64};
}

DenseBuckets dense_buckets(const GradientSpace& space, const Options& options) {
  const std::int64_t most = 2 * std::max<std::int64_t>(1, space.components);  // words hold them all
  const std::int64_t bits = 32 * std::min(options.integer(kBucketWords), most);
  const std::int64_t given = options.integer(kBucketBits);
  const std::int64_t of_value = given > 0 ? given : space.precision.value_bits;
  return {space.components, std::max<std::int64_t>(1, bits / of_value)};
}

std::unique_ptr<Scheme> dense_in_buckets(const SchemeSetup& setup, BucketAllreduce allreduce) {
  return std::make_unique<DenseOvlp>(setup, std::move(allreduce));
}

BucketAllreduce dense_ovlp_allreduce(const Options& options) {
  return options.flag(kRing) ? allreduce_ring : allreduce_rabenseifner;
}

namespace {

Cost dense_ovlp_cost(const CostInput& in) {
  const DenseBuckets buckets = dense_buckets(in.space(), *in.options);
  // All buckets except the last have the same length.
  CostInput first = in;
  first.n = buckets.components(0).length();
  CostInput last = in;
  last.n = buckets.components(buckets.count() - 1).length();

  const bool ring = in.options->flag(kRing);
  const auto terms = [&](std::int64_t words) {
    if (!ring) return rabenseifner_terms(in.ranks, words);
    Interval all = ring_terms(in.ranks, words);
    // A rank with shorter pieces may begin the next bucket before the others.
    if (buckets.count() > 1) all.low = ring_terms(in.ranks, words - words % in.ranks).low;
    return all;
  };
  const auto is_exact = [&](std::int64_t words) {
    return ring ? buckets.count() == 1 || words % in.ranks == 0
                : rabenseifner_is_exact(in.ranks, words);
  };
  const Interval each = terms(first.n);
  const Interval rest = terms(last.n);
  const auto others = static_cast<double>(buckets.count() - 1);
  const Interval run{others * each.low + rest.low, others * each.high + rest.high};

  const double p = in.ranks;
  const double share = static_cast<double>(in.n) * (p - 1) / p;
  const Interval counted = same({run.low.messages, 2 * share, share});
  return {.paper = {},
          .counted = counted,
          .added = {run.low + (-1.0) * counted.low, run.high + (-1.0) * counted.high},
          .exact = is_exact(first.n) && is_exact(last.n)};
}

}  // namespace

SchemeInfo dense_ovlp_scheme() {
  return {
      .name = "dense_ovlp",
      .summary =
          "bucket after bucket from the gradient's end, each by Rabenseifner's allreduce or a ring",
      .source = "Ok-Topk (PPoPP 2022), section 5, DenseOvlp",
      .paper = {.latency = "2 ceil(n/bucket_words) (ring (P-1) + (1 - ring) log P)",
                .words = "2n (P-1)/P",
                .reduced = "n (P-1)/P",
                .ours = true},
      .exact_when =
          "every bucket meets the condition of dense_rabenseifner; with ring, P "
          "divides every bucket",
      .added = "remainders of the pieces; folding in",
      .dense = true,
      .independent_iterations = true,
      .options = {bucket_option(),
                  bucket_bits_option(),
                  {.name = kRing,
                   .fallback = false,
                   .minimum = 0,
                   .help = "around a ring, as NCCL and Horovod reduce; false: by halving and "
                           "doubling"}},
      .run_cost = dense_ovlp_cost,
      .make = [](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
        return dense_in_buckets(setup, dense_ovlp_allreduce(setup.options));
      }};
}

}  // namespace thinwire::algorithms
