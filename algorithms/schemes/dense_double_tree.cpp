// dense_double_tree: NCCL's allreduce over two binary trees (Jeaugey, "Massively scale your deep
// learning training with NCCL 2.4", 2019; Sanders, Speck, Träff, Parallel Computing 35, 2009).
//
// Schedule: algorithms/collectives/double_tree.hpp. Each of two trees with different inner nodes
// sums one half of the gradient and sends the sum back down, in chunks.
// Cost: the sources promise 2 log P α for short gradients and 2nβ for long ones. A run, with C
// chunks per half, T = α + n/(2C) β, D = floor(log P) and b = min(P, 4), takes at least max(b C,
// S(C) + S(1)) T and at most (b (C-1) + 2 S(1) + D) T. S(1), 2 D or 2 D - 1, is the cost of a
// binary tree in this machine, where two children share a port; S(C) is about 2 (C-1) + 2 D. The
// upper end was found empirically, not proven. Only P = 1 is exact.
// Option `chunk_words`: with short chunks each costs α, with long ones the trees take long to fill;
// the best C is about sqrt(D n β / (2 α)).
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 8000, P = 7, chunk_words = 1000: C = 4, D = 2, S(1) = 4, S(4) = 10; between
// 16 T and 24 T, T = α + 1000 β, which is 2nβ plus up to 8 T to fill and drain the trees.
#include "algorithms/schemes/schemes.hpp"

#include <utility>

#include "algorithms/collectives/double_tree.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kWordsOfChunk = "chunk_words";

std::unique_ptr<Scheme> make_double_tree(const SchemeSetup& setup) {
  const std::int64_t chunk_words = setup.options.integer(kWordsOfChunk);
  return dense_collective(
      setup, "allreduce",
      [chunk_words](Communicator& comm, Message whole, const Reduction& reduction) {
        return allreduce_double_tree(comm, std::move(whole), reduction, chunk_words);
      });
}

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
  return {.name = "dense_double_tree",
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
          .make = make_double_tree};
}

}  // namespace thinwire::algorithms
