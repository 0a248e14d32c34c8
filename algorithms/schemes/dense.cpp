#include "algorithms/schemes/dense.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/schemes/mpi_buffers.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kSegmentBytes = "segment_bytes";

class DenseCollective final : public Scheme {
 public:
  DenseCollective(const SchemeSetup& setup, std::string phase, DenseSchedule schedule,
                  Seconds preparing)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        phase_(std::move(phase)),
        schedule_(std::move(schedule)),
        preparing_(preparing) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase(phase_);
    co_await comm.compute(preparing_);
    Message whole = message_of(gradient, space_);
    gradient = {};
    const Message result = co_await schedule_(comm, std::move(whole), reduction_);
    co_return Reduced{.sum = stream_from(result.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  std::string phase_;
  DenseSchedule schedule_;
  Seconds preparing_;
};

/// The cost of a schedule for powers of two, extended to any P: the cost for `ranks`, the power of
/// two below P, and two messages of the whole gradient when ranks fold in.
struct CoreCost {
  int ranks;
  double log;
  Terms folding;  ///< including one sum of the whole gradient
};

CoreCost core_cost(int ranks, std::int64_t words) {
  const auto below = std::bit_floor(static_cast<unsigned>(ranks));
  const bool folds = std::cmp_not_equal(below, ranks);
  const auto n = static_cast<double>(words);
  return {.ranks = static_cast<int>(below),
          .log = std::log2(static_cast<double>(below)),
          .folding = folds ? Terms{2, 2 * n, n} : Terms{}};
}

Interval rabenseifner_of_words(int ranks, std::int64_t words) {
  const CoreCost core = core_cost(ranks, words);
  std::int64_t path = 0;
  for (int pieces = core.ranks / 2; pieces > 0; pieces /= 2) {
    path += part_begin(words, core.ranks, pieces);
  }
  const Terms halving{2 * core.log, 2 * static_cast<double>(path), static_cast<double>(path)};
  Interval terms = same(core.folding + halving);
  if (core.ranks != ranks) {
    // The ranks that receive a folded value may have the shorter pieces to sum.
    const std::int64_t shortest = words / core.ranks;
    terms.low.reduced = core.folding.reduced + static_cast<double>(shortest * (core.ranks - 1));
  }
  return terms;
}

Cost rabenseifner_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  const Interval run = rabenseifner_terms(in.ranks, in.n);
  Cost cost = interval_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, run);
  cost.exact = rabenseifner_is_exact(in.ranks, in.n);
  return cost;
}

Cost ring_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  return exact_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, ring_terms(in.ranks, in.n).low);
}

Cost recursive_doubling_cost(const CostInput& in) {
  const CoreCost core = core_cost(in.ranks, in.n);
  const auto n = static_cast<double>(in.n);
  const double log = std::log2(static_cast<double>(in.ranks));
  return exact_cost({0, n * log, n * log},
                    core.folding + Terms{core.log, n * core.log, n * core.log});
}

Words segment_of(const Options& options) {
  return Words(std::max<std::int64_t>(1, options.integer(kSegmentBytes) / 4));
}

Cost ring_segmented_cost(const CostInput& in) {
  const std::int64_t pieces =
      ring_segments(Words(in.dense_words()), in.ranks, segment_of(*in.options)) *
      std::int64_t{in.ranks};
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const std::int64_t segments = pieces / in.ranks;
  const auto terms = [&](std::int64_t piece) {
    const double path = (p - 1) * static_cast<double>(segments * piece);
    return Terms{(p - 1) * (static_cast<double>(pieces) / p + 1), 2 * path, path};
  };
  Interval run{terms(in.n / pieces), terms((in.n + pieces - 1) / pieces)};
  if (pieces == in.ranks) run = ring_terms(in.ranks, in.n);
  return interval_cost({0, 2 * n * (p - 1) / p, n * (p - 1) / p}, run);
}

Cost nonoverlapping_cost(const CostInput& in) {
  const auto n = static_cast<double>(in.n);
  const double steps = ceil_log2(in.ranks);
  const double paper = n * std::log2(static_cast<double>(in.ranks));
  // Sums of values that arrive early are hidden, except the last one.
  const bool hidden = !std::has_single_bit(static_cast<unsigned>(in.ranks));
  Interval run = same({2 * steps, 2 * n * steps, n * steps});
  if (hidden) run.low.reduced = n;
  return interval_cost({0, 2 * paper, paper}, run);
}

}  // namespace

std::unique_ptr<Scheme> dense_collective(const SchemeSetup& setup, std::string phase,
                                         DenseSchedule schedule, Seconds preparing) {
  return std::make_unique<DenseCollective>(setup, std::move(phase), std::move(schedule), preparing);
}

Cost exact_cost(Terms paper, Terms run) { return interval_cost(paper, same(run)); }

Cost interval_cost(Terms paper, Interval run) {
  const auto added = [&](const Terms& end) {
    return Terms{end.messages - run.low.messages, end.words - paper.words,
                 end.reduced - paper.reduced};
  };
  const bool exact = run.low.messages == run.high.messages && run.low.words == run.high.words &&
                     run.low.reduced == run.high.reduced;
  return {.paper = {},
          .counted = same({run.low.messages, paper.words, 0}),
          .added = {added(run.low), added(run.high)},
          .exact = exact};
}

Interval ring_terms(int ranks, std::int64_t words) {
  const std::int64_t longest = part_begin(words, ranks, 1);  // the first piece
  const double path = (ranks - 1) * static_cast<double>(longest);
  return same({2.0 * (ranks - 1), 2 * path, path});
}

Interval rabenseifner_terms(int ranks, std::int64_t components, Precision precision) {
  const auto at_precision = [value = precision.value()](Terms terms) {
    return Terms{terms.messages, value * terms.words, value * terms.reduced};
  };
  const Interval whole = rabenseifner_of_words(ranks, components);
  return {at_precision(whole.low), at_precision(whole.high)};
}

bool rabenseifner_is_exact(int ranks, std::int64_t words) {
  const CoreCost core = core_cost(ranks, words);
  return core.ranks == ranks || words % core.ranks == 0;
}

std::vector<SchemeInfo> dense_schemes() {
  using BindSchedule = std::function<DenseSchedule(const Options&)>;
  const auto entry = [](std::string name, std::string summary, std::string source, PaperCost paper,
                        std::string exact_when, Cost (*cost)(const CostInput&), Buffers buffers,
                        BindSchedule bind, std::vector<OptionInfo> options = {}) {
    return SchemeInfo{.name = std::move(name),
                      .summary = std::move(summary),
                      .source = std::move(source),
                      .paper = std::move(paper),
                      .exact_when = std::move(exact_when),
                      .added = "remainders of the pieces; folding in",
                      .dense = true,
                      .independent_iterations = true,
                      .copies = true,
                      .allocates = buffers != no_buffers,
                      .options = std::move(options),
                      .run_cost = cost,
                      .make = [buffers, bind](const SchemeSetup& setup) {
                        // The sum is made in the receive buffer.
                        return dense_collective(setup, "allreduce", bind(setup.options),
                                                preparing(setup, buffers));
                      }};
  };
  const auto plain = [](AllreduceSchedule schedule) {
    return [schedule](const Options&) { return schedule; };
  };
  const auto segmented = [](const Options& options) -> DenseSchedule {
    return [segment = segment_of(options)](Communicator& comm, Message mine,
                                           const Reduction& reduction) {
      return allreduce_ring_segmented(comm, std::move(mine), reduction, segment);
    };
  };
  const OptionInfo segment{kSegmentBytes, std::int64_t{1} << 20, 4,
                           "bytes of a segment of the reduce-scatter; the last may be shorter"};
  const auto in_rounds = [](SchemeInfo info) {
    info.takes_rounds = true;
    return info;
  };
  return {
      in_rounds(entry("dense_rabenseifner",
                      "reduce-scatter by recursive halving; allgather by recursive doubling",
                      "Ok-Topk (PPoPP 2022), Table 1, Dense",
                      {.latency = "2 log P", .words = "2n (P-1)/P", .reduced = "n (P-1)/P"},
                      "P is a power of two, or the largest one below P divides n",
                      rabenseifner_cost, buffers_of_rabenseifner, plain(allreduce_rabenseifner))),
      in_rounds(entry("dense_ring", "reduce-scatter and allgather around a ring, P-1 steps each",
                      "SparCML (SC 2019), section 5.3",
                      {.latency = "2 (P-1)", .words = "2n (P-1)/P", .reduced = "n (P-1)/P"},
                      "always", ring_cost, buffers_of_ring, plain(allreduce_ring))),
      in_rounds(entry("dense_recursive_doubling",
                      "whole gradients exchanged and summed with rank ^ 1, 2, 4 ...",
                      "Thakur, Rabenseifner, Gropp (IJHPCA 2005)",
                      {.latency = "log P", .words = "n log P", .reduced = "n log P"}, "always",
                      recursive_doubling_cost, buffers_of_doubling,
                      plain(allreduce_recursive_doubling))),
      in_rounds(entry("dense_ring_segmented",
                      "dense_ring whose reduce-scatter goes around segment after segment",
                      "Open MPI 4.1, coll_base_allreduce.c, ring_segmented",
                      {.latency = "(P-1) (1 + max(1, floor(4n/(P segment_bytes) + 1/2)))",
                       .words = "2n (P-1)/P",
                       .reduced = "n (P-1)/P",
                       .ours = true},
                      "there is one segment, or P times the segments divide n", ring_segmented_cost,
                      no_buffers, segmented, {segment})),
      entry("dense_nonoverlapping", "sum to rank 0 by a binomial tree; broadcast by another",
            "Open MPI 4.1, coll_base_allreduce.c, nonoverlapping",
            {.latency = "2 log P", .words = "2n log P", .reduced = "n log P", .ours = true},
            "P is a power of two", nonoverlapping_cost, no_buffers,
            plain(allreduce_nonoverlapping))};
}

}  // namespace thinwire::algorithms
