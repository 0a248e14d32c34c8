#include "algorithms/schemes/dense_double_tree.hpp"

#include "algorithms/collectives/double_tree.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kWordsOfChunk = "chunk_words";

class DenseDoubleTree final : public Scheme {
 public:
  explicit DenseDoubleTree(const SchemeSetup& setup)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        chunk_words_(setup.options.integer(kWordsOfChunk)) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase("allreduce");
    const Message total = co_await allreduce_double_tree(comm, message_of(gradient, space_),
                                                         reduction_, chunk_words_);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  std::int64_t chunk_words_;
};

int chunks_of(const CostInput& in) {
  return double_tree_chunks(in.dense_words(), in.ranks, in.options->integer(kWordsOfChunk));
}

Pipeline double_tree_pipeline(const CostInput& in) {
  const std::int64_t chunks = chunks_of(in);
  const std::int64_t half = (in.dense_words() + 1) / 2;
  return {.chunks = chunks,
          .long_chunks = static_cast<double>(chunks),
          .scheme = "dense_double_tree",
          .options = {{kWordsOfChunk, (half + chunks - 1) / chunks}}};
}

Cost double_tree_cost(const CostInput& in) {
  const int chunks = chunks_of(in);
  const DoubleTreeSteps steps = double_tree_steps(in.ranks, chunks);
  const std::int64_t pieces = 2 * std::int64_t{chunks};
  const auto terms = [](std::int64_t messages, std::int64_t words, int sums) {
    const auto all = static_cast<double>(messages * words);
    return Terms{static_cast<double>(messages), all, sums * all};
  };
  const Terms low = terms(steps.low, in.n / pieces, 0);
  const Terms high = terms(steps.high, (in.n + pieces - 1) / pieces, 2);
  const double paper_words = 2 * static_cast<double>(in.n);
  return {.paper = {},
          .counted = {{low.messages, paper_words, 0}, {high.messages, paper_words, high.reduced}},
          .added = {{0, low.words - paper_words, 0}, {0, high.words - paper_words, 0}},
          .exact = in.ranks == 1};
}

}  // namespace

SchemeInfo dense_double_tree_scheme() {
  return {
      .name = "dense_double_tree",
      .summary = "halves summed up two binary trees and sent back down, in chunks (NCCL 2.4)",
      .source = "Sanders, Speck, Traff (Parallel Computing 2009); NCCL 2.4",
      .paper = {.latency = "2 log P", .words = "2n", .reduced = "0", .reduced_high = "n"},
      .added = "filling and draining the trees",
      .dense = true,
      .independent_iterations = true,
      .stand_ins = {.pipeline = double_tree_pipeline},
      .options = {{.name = kWordsOfChunk,
                   .fallback = std::int64_t{0},
                   .minimum = 0,
                   .help = "most words of a chunk; 0: 131072, or less to fill the trees"}},
      .run_cost = double_tree_cost,
      .make = [](const SchemeSetup& setup) { return std::make_unique<DenseDoubleTree>(setup); }};
}

}  // namespace thinwire::algorithms
