#include "algorithms/collectives/reduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::entries_of;
using test::exactly;
using test::formula;

namespace {

constexpr std::int64_t kReducedWords = 123;

using MessageOf = std::function<Message(int rank)>;

struct ReduceOutcome {
  RunReport report;
  std::vector<Message> results;
};

Task<void> take_part_in_reduce(Communicator& comm, Rank root, Message mine,
                               const Reduction& reduction, Message& result) {
  result = co_await algorithms::reduce(comm, root, std::move(mine), reduction);
}

ReduceOutcome run_reduce(Network& network, int ranks, int root, const Reduction& reduction,
                         const MessageOf& message_of_rank) {
  ReduceOutcome outcome;
  outcome.results.resize(static_cast<std::size_t>(ranks));
  outcome.report = network.run(ranks, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    return take_part_in_reduce(comm, Rank(root), message_of_rank(rank), reduction,
                               outcome.results[static_cast<std::size_t>(rank)]);
  });
  return outcome;
}

Message numbers_of(int rank) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < kReducedWords; ++i)
    numbers.push_back((rank + 1) * (i + 3) - rank * rank);
  return Numbers(std::move(numbers)).message();
}

/// The root has the sum of all, and nobody else has anything.
bool sums_numbers(const ReduceOutcome& outcome, int root) {
  std::vector<std::int64_t> expected(kReducedWords);
  const int ranks = static_cast<int>(outcome.results.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const Numbers numbers = Numbers::from(numbers_of(rank).payload);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += numbers[i];
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const Message& result = outcome.results[static_cast<std::size_t>(rank)];
    if (rank != root && (result.payload.body || result.words != Words(0))) return false;
    if (rank == root && !std::ranges::equal(Numbers::from(result.payload).all(), expected)) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("A reduction to any root gives it the sum in ceil log P messages at any P") {
  SharedWork shared(100);
  const NumbersReduction reduction(shared);
  for (const int ranks : test::kRankCounts) {
    for (int root = 0; root < ranks; ++root) {
      CAPTURE(ranks);
      CAPTURE(root);
      test::Networks networks;
      const int log = test::ceil_log2(ranks);
      const ReduceOutcome timed =
          run_reduce(networks.alphabeta, ranks, root, reduction, numbers_of);
      CHECK(sums_numbers(timed, root));
      CHECK(timed.report.makespan().value() ==
            exactly(formula(log, static_cast<double>(log * kReducedWords))));
      const ReduceOutcome counted =
          run_reduce(networks.counting, ranks, root, reduction, numbers_of);
      CHECK(sums_numbers(counted, root));
      CHECK(counted.report.steps() == log);
      std::int64_t messages = 0;
      bool once = true;
      for (int rank = 0; rank < ranks; ++rank) {
        const Traffic total = counted.report.ranks[static_cast<std::size_t>(rank)].total();
        messages += total.messages_received;
        once = once && total.messages_sent == (rank == root ? 0 : 1);
      }
      CHECK(messages == ranks - 1);
      CHECK(once);
    }
  }
}

TEST_CASE("A reduction of dense gradients charges for every sum on the way to the root") {
  constexpr double kGamma = 0.9e-9;
  const GradientSpace space{.components = 1000, .granule = 4};
  for (int ranks = 1; ranks <= 70; ++ranks) {
    CAPTURE(ranks);
    SharedWork shared(100);
    const GradientReduction reduction(shared, Seconds(kGamma), space);
    test::Networks networks;
    const ReduceOutcome outcome =
        run_reduce(networks.alphabeta, ranks, 0, reduction, [&](int rank) {
          const DenseBlock block(0, std::vector<float>(250, static_cast<float>(rank)));
          return block.message(space);
        });
    const double log = test::ceil_log2(ranks);
    const double most = formula(log, 1000 * log) + kGamma * 1000 * log;
    const double time = outcome.report.makespan().value();
    if (std::has_single_bit(static_cast<unsigned>(ranks))) {
      CHECK(time == exactly(most));
    } else {
      CHECK(time >= formula(log, 1000 * log) + kGamma * 1000);  // the last one hides nothing
      CHECK(time <= most * (1 + 1e-9));
    }
    const auto sum = DenseBlock::from(outcome.results[0].payload).values();
    const auto expected = static_cast<float>(ranks * (ranks - 1) / 2);
    CHECK(std::ranges::all_of(sum, [&](float value) { return value == expected; }));
  }
}

TEST_CASE("A reduction of sparse gradients gives the root the sum, sparse or dense") {
  const GradientSpace space{.components = 200, .granule = 1};
  for (const int ranks : test::kRankCounts) {
    for (const int wanted : {0, 3, 60}) {
      CAPTURE(ranks);
      CAPTURE(wanted);
      test::Generator generator(static_cast<std::uint64_t>(ranks));
      std::vector<SparseVector> vectors;
      test::Oracle oracle;
      for (int rank = 0; rank < ranks; ++rank) {
        vectors.push_back(test::random_vector(generator, 0, 200, wanted));
        test::add_to(oracle, vectors.back());
      }
      std::vector<float> dense(200);
      for (const auto& [coordinate, value] : oracle) dense[coordinate] = static_cast<float>(value);
      SharedWork shared(100);
      const GradientReduction reduction(shared, Seconds(0), space);
      test::Networks networks;
      const int root = ranks / 2;
      const ReduceOutcome outcome = run_reduce(
          networks.alphabeta, ranks, root, reduction,
          [&](int rank) { return vectors[static_cast<std::size_t>(rank)].message(space); });
      const Stream sum = stream_from(outcome.results[static_cast<std::size_t>(root)].payload);
      if (const auto* sparse = std::get_if<SparseVector>(&sum)) {
        CHECK(entries_of(*sparse) == entries_of(oracle));
      } else {
        CHECK(std::ranges::equal(std::get<DenseBlock>(sum).values(), dense));
      }
    }
  }
}

}  // namespace thinwire::algorithms
