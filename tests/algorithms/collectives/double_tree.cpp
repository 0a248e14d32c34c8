#include "algorithms/collectives/double_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::below;
using test::exactly;
using test::formula;
using test::Generator;

namespace {

constexpr int kMost = test::kSanitized ? 40 : 130;

using MessageOf = std::function<Message(int rank)>;

struct DoubleTreeOutcome {
  RunReport report;
  std::vector<Message> results;
};

Task<void> take_part(Communicator& comm, Message mine, const Reduction& reduction,
                     std::int64_t chunk_words, Message& result) {
  result = co_await allreduce_double_tree(comm, std::move(mine), reduction, chunk_words);
}

DoubleTreeOutcome run(Network& network, int ranks, std::int64_t chunk_words,
                      const Reduction& reduction, const MessageOf& message_of_rank) {
  DoubleTreeOutcome outcome;
  outcome.results.resize(static_cast<std::size_t>(ranks));
  outcome.report = network.run(ranks, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    return take_part(comm, message_of_rank(rank), reduction, chunk_words,
                     outcome.results[static_cast<std::size_t>(rank)]);
  });
  return outcome;
}

/// Only the lengths matter: a granule makes long values cheap.
DoubleTreeOutcome run_zeros(Network& network, int ranks, std::int64_t n, std::int64_t chunk_words,
                            Seconds gamma = Seconds(0)) {
  const GradientSpace space{.components = n, .granule = std::max<std::int64_t>(1, n)};
  SharedWork shared(100);
  const GradientReduction reduction(shared, gamma, space);
  return run(network, ranks, chunk_words, reduction, [&](int) {
    const DenseBlock block(0, std::vector<float>(static_cast<std::size_t>(space.coordinates())));
    return block.message(space);
  });
}

std::vector<std::int64_t> tree_numbers_of_rank(int rank, std::int64_t length) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < length; ++i) numbers.push_back((rank + 1) * (i + 3) - rank * rank);
  return numbers;
}

std::vector<TreePlace> tree_of(int ranks, int tree) {
  std::vector<TreePlace> places;
  for (int rank = 0; rank < ranks; ++rank) places.push_back(place_in_tree(Rank(rank), ranks, tree));
  return places;
}

double seconds(std::int64_t messages, std::int64_t chunk) {
  return formula(static_cast<double>(messages), static_cast<double>(messages * chunk));
}

/// The time of a run, which is checked against the interval of the header.
double check_interval(int ranks, std::int64_t n, std::int64_t chunk_words) {
  test::Networks networks;
  const int chunks = double_tree_chunks(n, ranks, chunk_words);
  const DoubleTreeSteps steps = double_tree_steps(ranks, chunks);
  const std::int64_t pieces = 2 * std::int64_t{chunks};
  const double time =
      run_zeros(networks.alphabeta, ranks, n, chunk_words).report.makespan().value();
  CHECK(time >= seconds(steps.low, n / pieces) * (1 - 1e-9));
  CHECK(time <= seconds(steps.high, (n + pieces - 1) / pieces) * (1 + 1e-9));
  return time;
}

}  // namespace

TEST_CASE("No rank is an inner node of both trees at any P") {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    const auto first = tree_of(ranks, 0);
    const auto second = tree_of(ranks, 1);
    int inner = 0;
    for (std::size_t rank = 0; rank < first.size(); ++rank) {
      CHECK((first[rank].children.empty() || second[rank].children.empty()));
      inner += first[rank].children.empty() && second[rank].children.empty() ? 0 : 1;
    }
    CHECK(inner == ranks - ranks % 2);  // at odd P rank 0 is a leaf in both
  }
}

TEST_CASE("Parents and children of both trees agree and every rank hangs below one root") {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (const int tree : {0, 1}) {
      CAPTURE(ranks);
      CAPTURE(tree);
      const auto places = tree_of(ranks, tree);
      int roots = 0;
      int edges = 0;
      int deepest = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const TreePlace& place = places[static_cast<std::size_t>(rank)];
        deepest = std::max(deepest, place.level);
        CHECK(place.children.size() <= 2);
        for (const Rank child : place.children) {
          const TreePlace& below_it = places.at(static_cast<std::size_t>(child.value()));
          ++edges;
          CHECK(below_it.parent == Rank(rank));
          CHECK(below_it.level == place.level + 1);
        }
        if (place.parent) {
          const TreePlace& above = places.at(static_cast<std::size_t>(place.parent->value()));
          CHECK(std::ranges::count(above.children, Rank(rank)) == 1);
        } else {
          ++roots;
          CHECK(place.level == 0);
        }
      }
      CHECK(roots == 1);
      CHECK(edges == ranks - 1);
      CHECK(deepest == test::floor_log2(ranks));
      CHECK(deepest == double_tree_depth(ranks));
    }
  }
}

TEST_CASE("The trees of seven and of six ranks follow the in-order numbering") {
  const auto children = [](int rank, int size, int tree) {
    std::vector<int> numbers;
    for (const Rank child : place_in_tree(Rank(rank), size, tree).children) {
      numbers.push_back(child.value());
    }
    return numbers;
  };
  using Ranks = std::vector<int>;
  CHECK(children(3, 7, 0) == Ranks{1, 5});
  CHECK(children(1, 7, 0) == Ranks{0, 2});
  CHECK(children(5, 7, 0) == Ranks{4, 6});
  CHECK(children(4, 7, 1) == Ranks{2, 6});  // shifted
  CHECK(children(6, 7, 1) == Ranks{5, 0});
  CHECK(children(3, 6, 0) == Ranks{1, 5});
  CHECK(children(5, 6, 0) == Ranks{4});
  CHECK(children(2, 6, 1) == Ranks{4, 0});  // mirrored
  CHECK(children(0, 6, 1) == Ranks{1});
}

TEST_CASE("Chunks are as long as was asked for or short enough to fill the trees") {
  CHECK(double_tree_chunks(0, 8, 10) == 1);
  CHECK(double_tree_chunks(20, 8, 10) == 1);
  CHECK(double_tree_chunks(21, 8, 10) == 2);
  CHECK(double_tree_chunks(1000, 8, 1) == 500);
  CHECK(double_tree_chunks(16384, 8, 0) == 1);
  CHECK(double_tree_chunks(1 << 20, 8, 0) == 32);  // 16384 words: 24 would do
  CHECK(double_tree_chunks(1 << 20, 4096, 0) == 64);
  CHECK(double_tree_chunks(1 << 30, 4096, 0) == 4096);
}

TEST_CASE("A double tree gives every rank the sum at any P, length and chunk") {
  for (const int ranks : test::kRankCounts) {
    for (const std::int64_t length : {1, 5, 64, 101}) {
      for (const std::int64_t chunk_words : {0, 1, 7, 30, 1000}) {
        CAPTURE(ranks);
        CAPTURE(length);
        CAPTURE(chunk_words);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(length));
        for (int rank = 0; rank < ranks; ++rank) {
          const auto numbers = tree_numbers_of_rank(rank, length);
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += numbers[i];
        }
        test::Networks networks;
        for (Network* network : std::array<Network*, 2>{&networks.alphabeta, &networks.counting}) {
          SharedWork shared(100);
          const NumbersReduction reduction(shared);
          const DoubleTreeOutcome outcome =
              run(*network, ranks, chunk_words, reduction,
                  [&](int rank) { return Numbers(tree_numbers_of_rank(rank, length)).message(); });
          CHECK(std::ranges::all_of(outcome.results, [&](const Message& message) {
            return message.words == Words(length) &&
                   std::ranges::equal(Numbers::from(message.payload).all(), expected);
          }));
        }
      }
    }
  }
}

TEST_CASE("A double tree gives every rank the same sum of floats to the last bit") {
  for (const int ranks : test::kRankCounts) {
    for (const std::int64_t granule : {1, 4}) {
      CAPTURE(ranks);
      CAPTURE(granule);
      const GradientSpace space{.components = 203, .granule = granule};
      const auto size = static_cast<std::size_t>(space.coordinates());
      Generator generator(static_cast<std::uint64_t>(ranks));
      std::vector<DenseBlock> blocks;
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<float> values;
        for (std::size_t i = 0; i < size; ++i) {
          values.push_back(static_cast<float>(below(generator, 2000001) - 1000000) * 1e-3F);
        }
        blocks.emplace_back(0, std::move(values));
      }
      test::Networks networks;
      SharedWork shared(100);
      const GradientReduction reduction(shared, Seconds(0), space);
      const DoubleTreeOutcome outcome =
          run(networks.alphabeta, ranks, 10, reduction,
              [&](int rank) { return blocks[static_cast<std::size_t>(rank)].message(space); });
      const auto first = DenseBlock::from(outcome.results[0].payload).values();
      REQUIRE(first.size() == size);
      CHECK(std::ranges::all_of(outcome.results, [&](const Message& message) {
        const auto values = DenseBlock::from(message.payload).values();
        return message.words == Words(203) && values.size() == size &&
               std::memcmp(values.data(), first.data(), size * sizeof(float)) == 0;
      }));
    }
  }
}

TEST_CASE("A double tree takes a time within its interval at every P and number of chunks") {
  for (int ranks = 1; ranks <= kMost; ++ranks) {
    for (const int chunks : {1, 2, 3, 5, 8, 13, 30}) {
      CAPTURE(ranks);
      CAPTURE(chunks);
      check_interval(ranks, 2000LL * chunks, 1000);
    }
  }
}

TEST_CASE("A double tree takes a time within its interval at random lengths and chunks") {
  Generator generator(7);
  for (const int ranks : test::kRankCounts) {
    for (int i = 0; i < 40; ++i) {
      const std::int64_t n = below(generator, std::int64_t{1} << below(generator, 22));
      const std::int64_t most = 1 + n / 2 / (1 + below(generator, 60));
      const std::int64_t chunk_words = i % 4 == 0 ? 0 : most;
      CAPTURE(ranks);
      CAPTURE(n);
      CAPTURE(chunk_words);
      check_interval(ranks, n, chunk_words);
    }
  }
}

TEST_CASE("Long values take four messages a chunk however many ranks there are") {
  // 2n words, as on a ring, and a part of the latency of 2 (P - 1).
  for (const int ranks : {4, 5, 16, 33, 100}) {
    CAPTURE(ranks);
    const double four = seconds(4, 100);
    const double time = check_interval(ranks, 200 * 400, 100);
    CHECK(time >= 400 * four);
    CHECK(time <= (400 + double_tree_depth(ranks) + 1) * four);
    CHECK(check_interval(ranks, 200 * 401, 100) - time == exactly(four));
  }
}

TEST_CASE("One chunk is the plain tree with two messages a level each way") {
  for (const std::int64_t chunk_words : {500, 700, 1 << 30}) {
    const auto time = [&](int ranks) { return check_interval(ranks, 1000, chunk_words); };
    CHECK(time(1) == 0);
    CHECK(time(2) == exactly(formula(2, 1000)));
    CHECK(time(3) == exactly(formula(4, 2000)));
    CHECK(time(4) == exactly(formula(6, 3000)));
    CHECK(time(7) == exactly(formula(8, 4000)));
    CHECK(time(8) == exactly(formula(10, 5000)));
    CHECK(time(31) == exactly(formula(16, 8000)));
  }
}

TEST_CASE("No port of a double tree carries more than 2n words and an inner one carries them") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    test::Networks networks;
    constexpr std::int64_t kWords = 12000;
    const RunReport report = run_zeros(networks.counting, ranks, kWords, 500).report;
    std::int64_t sent = 0;
    std::int64_t received = 0;
    std::int64_t all = 0;
    for (const RankReport& rank : report.ranks) {
      const Traffic total = rank.total();
      sent = std::max(sent, total.words_sent.value());
      received = std::max(received, total.words_received.value());
      all += total.words_sent.value();
    }
    const std::int64_t busiest = ranks == 1 ? 0 : kWords / 2 * std::min(ranks, 4);
    CHECK(sent == busiest);
    CHECK(received == busiest);
    CHECK(all == 2 * kWords * (ranks - 1));
    const DoubleTreeSteps steps = double_tree_steps(ranks, 12);
    CHECK(report.steps() >= steps.low);
    CHECK(report.steps() <= steps.high);
  }
}

TEST_CASE("Inner nodes of a double tree are charged for two sums a chunk") {
  constexpr double kGamma = 1e-3;  // beside which messages are nothing
  for (const int ranks : {3, 7, 15, 31}) {
    for (const int chunks : {1, 2, 10}) {
      CAPTURE(ranks);
      CAPTURE(chunks);
      test::Networks networks;
      const std::int64_t n = 200LL * chunks;
      const double messages = check_interval(ranks, n, 100);
      const double time =
          run_zeros(networks.alphabeta, ranks, n, 100, Seconds(kGamma)).report.makespan().value();
      const double sums = 2 * kGamma * 100 * (chunks - 1 + double_tree_depth(ranks));
      CHECK(time >= sums);
      CHECK(time <= sums + messages);
    }
  }
  test::Networks networks;
  CHECK(run_zeros(networks.alphabeta, 2, 1000, 500, Seconds(kGamma)).report.makespan().value() ==
        exactly(formula(2, 1000) + kGamma * 500));
}

}  // namespace thinwire::algorithms
