#include "algorithms/collectives/allreduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::below;
using test::entries_of;
using test::exactly;
using test::formula;
using test::Generator;

namespace {

using Schedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

struct Named {
  std::string name;
  Schedule schedule;
};

Task<Message> in_short_segments(Communicator& comm, Message mine, const Reduction& reduction) {
  return allreduce_ring_segmented(comm, std::move(mine), reduction, Words(3));
}

const std::array kSchedules{Named{"recursive doubling", allreduce_recursive_doubling},
                            Named{"rabenseifner", allreduce_rabenseifner},
                            Named{"ring", allreduce_ring},
                            Named{"ring in segments", in_short_segments},
                            Named{"nonoverlapping", allreduce_nonoverlapping}};

Task<void> reduce(Communicator& comm, Schedule schedule, Message mine, const Reduction& reduction,
                  Message& result) {
  result = co_await schedule(comm, std::move(mine), reduction);
}

bool power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

struct AllreduceOutcome {
  RunReport report;
  std::vector<Message> results;
};

template <class MessageOf>
AllreduceOutcome run(Network& network, int ranks, Schedule schedule, const Reduction& reduction,
                     MessageOf message_of_rank) {
  AllreduceOutcome outcome;
  outcome.results.resize(static_cast<std::size_t>(ranks));
  outcome.report = network.run(ranks, [&](Communicator& comm) {
    return reduce(comm, schedule, message_of_rank(comm.rank().value()), reduction,
                  outcome.results[static_cast<std::size_t>(comm.rank().value())]);
  });
  return outcome;
}

/// Messages and words on the critical path, by the formulas of the header.
struct Path {
  double messages;
  double words;
};

Path path_of(const Schedule schedule, int ranks, std::int64_t length) {
  const auto words = static_cast<double>(length);
  if (schedule == allreduce_ring) {
    const auto longest = static_cast<double>((length + ranks - 1) / ranks);
    return {2.0 * (ranks - 1), 2.0 * (ranks - 1) * longest};
  }
  if (schedule == allreduce_nonoverlapping) {
    return {2.0 * test::ceil_log2(ranks), 2 * test::ceil_log2(ranks) * words};
  }
  const int log = test::floor_log2(ranks);
  const int core = 1 << log;
  const double folds = core == ranks ? 0 : 2;
  if (schedule == allreduce_recursive_doubling) {
    return {log + folds, (log + folds) * words};
  }
  return {2 * log + folds, folds * words + 2 * words * (core - 1) / core};
}

std::vector<std::int64_t> numbers_of_rank(int rank, std::int64_t length) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < length; ++i) numbers.push_back((rank + 1) * (i + 3) - rank * rank);
  return numbers;
}

}  // namespace

TEST_CASE("Allreduces of numbers give every rank the sum at any P") {
  for (const Named& named : kSchedules) {
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t length : {1, 5, 64, 101}) {
        CAPTURE(named.name);
        CAPTURE(ranks);
        CAPTURE(length);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(length));
        for (int rank = 0; rank < ranks; ++rank) {
          const auto numbers = numbers_of_rank(rank, length);
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += numbers[i];
        }
        test::Networks networks;
        for (Network* network : std::array<Network*, 2>{&networks.alphabeta, &networks.counting}) {
          SharedWork shared(100);
          const NumbersReduction reduction(shared);
          const AllreduceOutcome outcome =
              run(*network, ranks, named.schedule, reduction,
                  [&](int rank) { return Numbers(numbers_of_rank(rank, length)).message(); });
          CHECK(std::all_of(
              outcome.results.begin(), outcome.results.end(), [&](const Message& message) {
                const auto all = Numbers::from(message.payload).all();
                return message.words == Words(length) &&
                       std::equal(all.begin(), all.end(), expected.begin(), expected.end());
              }));
        }
      }
    }
  }
}

TEST_CASE("Allreduces of dense gradients give every rank the same sum to the last bit") {
  for (const Named& named : kSchedules) {
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t granule : {1, 4}) {
        CAPTURE(named.name);
        CAPTURE(ranks);
        CAPTURE(granule);
        const GradientSpace space{.components = 203, .granule = granule};
        const auto size = static_cast<std::size_t>(space.coordinates());
        std::vector<DenseBlock> blocks;
        std::vector<double> expected(size);
        std::vector<double> bound(size);
        Generator generator(static_cast<std::uint64_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
          std::vector<float> values;
          for (std::size_t i = 0; i < size; ++i) {
            values.push_back(static_cast<float>(below(generator, 2000001) - 1000000) * 1e-3F);
            expected[i] += values.back();
            bound[i] += std::abs(values.back());
          }
          blocks.emplace_back(0, std::move(values));
        }
        test::Networks networks;
        SharedWork shared(100);
        const GradientReduction reduction(shared, Seconds(0), space);
        const AllreduceOutcome outcome =
            run(networks.alphabeta, ranks, named.schedule, reduction,
                [&](int rank) { return blocks[static_cast<std::size_t>(rank)].message(space); });
        const auto first = DenseBlock::from(outcome.results[0].payload).values();
        REQUIRE(first.size() == size);
        bool right = true;
        for (std::size_t i = 0; i < size; ++i) {
          right = right && std::abs(first[i] - expected[i]) <= bound[i] * ranks * 0x1p-23;
        }
        CHECK(right);
        CHECK(std::all_of(
            outcome.results.begin(), outcome.results.end(), [&](const Message& message) {
              const auto values = DenseBlock::from(message.payload).values();
              return message.words == Words(space.components) && values.size() == size &&
                     std::memcmp(values.data(), first.data(), size * sizeof(float)) == 0;
            }));
      }
    }
  }
}

TEST_CASE("Recursive doubling of sparse gradients gives the sum, sparse or dense") {
  for (const int ranks : test::kRankCounts) {
    for (const int wanted : {0, 3, 60}) {
      CAPTURE(ranks);
      CAPTURE(wanted);
      const GradientSpace space{.components = 200, .granule = 1};
      Generator generator(static_cast<std::uint64_t>(ranks));
      std::vector<SparseVector> vectors;
      test::Oracle oracle;
      for (int rank = 0; rank < ranks; ++rank) {
        vectors.push_back(test::random_vector(generator, 0, 200, wanted));
        test::add_to(oracle, vectors.back());
      }
      std::vector<float> dense(200);
      for (const auto& [coordinate, value] : oracle) dense[coordinate] = static_cast<float>(value);
      test::Networks networks;
      SharedWork shared(100);
      const GradientReduction reduction(shared, Seconds(0), space);
      const AllreduceOutcome outcome =
          run(networks.alphabeta, ranks, allreduce_recursive_doubling, reduction,
              [&](int rank) { return vectors[static_cast<std::size_t>(rank)].message(space); });
      bool right = true;
      for (const Message& message : outcome.results) {
        const Stream stream = stream_from(message.payload);
        if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
          right = right && entries_of(*sparse) == entries_of(oracle);
        } else {
          const auto values = std::get<DenseBlock>(stream).values();
          right = right && std::equal(values.begin(), values.end(), dense.begin(), dense.end());
        }
      }
      CHECK(right);
    }
  }
}

TEST_CASE("Allreduces take the steps and the time of their formulas at any P") {
  for (const Named& named : kSchedules) {
    if (named.schedule == in_short_segments) continue;  // see below
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks > 5) continue;
      // The core divides these. Rabenseifner may take longer where it folds in: see below.
      for (const std::int64_t length : {64 * 2000, 64 * 2001}) {
        CAPTURE(named.name);
        CAPTURE(ranks);
        CAPTURE(length);
        const Path path = path_of(named.schedule, ranks, length);
        test::Networks networks;
        SharedWork shared(100);
        const NumbersReduction reduction(shared);
        const auto mine = [&](int rank) {
          return Numbers(numbers_of_rank(rank, length)).message();
        };
        if (power_of_two(ranks) || named.schedule != allreduce_rabenseifner) {
          CHECK(run(networks.alphabeta, ranks, named.schedule, reduction, mine)
                    .report.makespan()
                    .value() == exactly(formula(path.messages, path.words)));
        }
        const RunReport counted =
            run(networks.counting, ranks, named.schedule, reduction, mine).report;
        CHECK(static_cast<double>(counted.steps()) == path.messages);
        double most = 0;
        for (const RankReport& rank : counted.ranks) {
          most = std::max(most, static_cast<double>(rank.total().words_sent.value()));
        }
        CHECK(most <= path.words);
        const bool trees =
            named.schedule == allreduce_nonoverlapping;  // only the root sends so much
        if (power_of_two(ranks) && length % ranks == 0 && !trees) {
          CHECK(most == path.words);
        }
      }
    }
  }
}

TEST_CASE("Work on shared sums is charged to every rank and made once a pair") {
  constexpr double kGamma = 1e-3;
  const GradientSpace space{.components = 1000, .granule = 1};
  for (const int ranks : {2, 8, 64}) {
    test::Networks networks;
    SharedWork shared(1000);
    const GradientReduction reduction(shared, Seconds(kGamma), space);
    std::vector<DenseBlock> blocks;
    for (int rank = 0; rank < ranks; ++rank) {
      blocks.emplace_back(0, std::vector<float>(1000, static_cast<float>(rank)));
    }
    const AllreduceOutcome outcome =
        run(networks.alphabeta, ranks, allreduce_recursive_doubling, reduction,
            [&](int rank) { return blocks[static_cast<std::size_t>(rank)].message(space); });
    const double log = test::ceil_log2(ranks);
    for (const RankReport& rank : outcome.report.ranks) {
      CHECK(rank.finished.value() == exactly(formula(log, 1000 * log) + kGamma * 1000 * log));
    }
    CHECK(shared.computed() == static_cast<std::size_t>(ranks - 1));
  }
}

TEST_CASE("Rabenseifner takes the time of its formula at any P and length") {
  // Ranks that do not fold in are two steps ahead of the others, but their messages wait until they
  // are wanted.
  for (int ranks = 1; ranks < (test::kSanitized ? 20 : 70); ++ranks) {
    for (const std::int64_t length : {64, 6400, 128000}) {
      CAPTURE(ranks);
      CAPTURE(length);
      const Path path = path_of(allreduce_rabenseifner, ranks, length);
      test::Networks networks;
      SharedWork shared(100);
      const NumbersReduction reduction(shared);
      const double time =
          run(networks.alphabeta, ranks, allreduce_rabenseifner, reduction,
              [&](int rank) { return Numbers(numbers_of_rank(rank, length)).message(); })
              .report.makespan()
              .value();
      CHECK(time == exactly(formula(path.messages, path.words)));
    }
  }
}

TEST_CASE("A ring in segments takes a turn of the ring for each, and one for the blocks") {
  for (const int ranks : test::kRankCounts) {
    for (const int segments : {1, 2, 5}) {
      CAPTURE(ranks);
      CAPTURE(segments);
      test::Networks networks;
      SharedWork shared(100);
      const NumbersReduction reduction(shared);
      const std::int64_t length = std::int64_t{3} * segments * ranks;
      CHECK(ring_segments(Words(length), ranks, Words(3)) == segments);
      const auto mine = [&](int rank) { return Numbers(numbers_of_rank(rank, length)).message(); };
      const double words = 2.0 * static_cast<double>(length) * (ranks - 1) / ranks;
      CHECK(run(networks.alphabeta, ranks, in_short_segments, reduction, mine)
                .report.makespan()
                .value() == exactly(formula((segments + 1) * (ranks - 1), words)));
      CHECK(run(networks.counting, ranks, in_short_segments, reduction, mine).report.steps() ==
            (segments + 1) * (ranks - 1));
    }
  }
}

TEST_CASE("The number of segments is Open MPI's") {
  // num_phases of ompi_coll_base_allreduce_intra_ring_segmented, for segments of 10 words.
  const auto segments = [](std::int64_t words, int ranks) {
    return ring_segments(Words(words), ranks, Words(10));
  };
  CHECK(segments(0, 4) == 1);
  CHECK(segments(39, 4) == 1);  // fewer words than a segment a rank: the plain ring
  CHECK(segments(40, 4) == 1);
  CHECK(segments(60, 4) == 1);  // the rest is half a turn
  CHECK(segments(61, 4) == 2);
  CHECK(segments(100, 4) == 2);
  CHECK(segments(101, 4) == 3);
  CHECK(segments(10'000, 4) == 250);
}

}  // namespace thinwire::algorithms
