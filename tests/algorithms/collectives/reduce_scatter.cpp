#include "algorithms/collectives/reduce_scatter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "sim/core/gradient/numbers.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

using test::exactly;
using test::formula;

namespace {

struct Scattering {
  const char* name;
  ReduceScatterSchedule schedule;
};

constexpr std::array kScatterings{Scattering{"ring", reduce_scatter_ring},
                                  Scattering{"halving", reduce_scatter_recursive_halving},
                                  Scattering{"pairwise", reduce_scatter_pairwise}};

std::int64_t summand(int rank, std::int64_t i) { return (rank + 1) * (7 * i + 3) - rank * rank; }

Message numbers_to_scatter(int rank, std::int64_t length) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < length; ++i) numbers.push_back(summand(rank, i));
  return Numbers(std::move(numbers)).message();
}

Task<void> scatter_one(Communicator& comm, ReduceScatterSchedule schedule, Message mine,
                       const Reduction& reduction, Message& result) {
  result = co_await schedule(comm, std::move(mine), reduction);
}

struct ScatterOutcome {
  RunReport report;
  std::vector<Message> results;

  /// The blocks of the ranks, one behind the other, are the serial sum, and as equal as possible.
  [[nodiscard]] bool right(std::int64_t length) const {
    const auto ranks = static_cast<std::int64_t>(results.size());
    std::int64_t at = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const Message& result = results[static_cast<std::size_t>(rank)];
      const std::int64_t words = length / ranks + (rank < length % ranks ? 1 : 0);
      const auto block = Numbers::from(result.payload).all();
      if (result.words != Words(words) || std::cmp_not_equal(block.size(), words)) return false;
      for (const std::int64_t value : block) {
        std::int64_t sum = 0;
        for (int summed = 0; summed < ranks; ++summed) sum += summand(summed, at);
        if (value != sum) return false;
        ++at;
      }
    }
    return at == length;
  }
};

ScatterOutcome run_scatter(Network& network, ReduceScatterSchedule schedule, int ranks,
                           std::int64_t length) {
  ScatterOutcome outcome;
  outcome.results.resize(static_cast<std::size_t>(ranks));
  SharedWork shared(100);
  const NumbersReduction reduction(shared);
  outcome.report = network.run(ranks, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    return scatter_one(comm, schedule, numbers_to_scatter(rank, length), reduction,
                       outcome.results[static_cast<std::size_t>(rank)]);
  });
  return outcome;
}

/// Messages and words of the formulas of the header, for lengths that P divides.
double formula_of(ReduceScatterSchedule schedule, int ranks, double length) {
  const double words = length * (ranks - 1) / ranks;
  if (schedule != reduce_scatter_recursive_halving) return formula(ranks - 1, words);
  const int log = test::floor_log2(ranks);
  const int core = 1 << log;
  if (core == ranks) return formula(log, words);
  // Of the halves of the core a rank of a pair has the larger ones: twice the blocks, as long as
  // there are pairs.
  double path = length + length / ranks;
  for (int places = core / 2; places > 0; places /= 2) {
    path += length / ranks * (places + std::min(places, ranks - core));
  }
  return formula(log + 2, path);
}

}  // namespace

TEST_CASE("Rank r ends with block r of the sum at any P and length") {
  for (const Scattering& scattering : kScatterings) {
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t length : {0, 1, 5, 64, 101}) {
        CAPTURE(std::string(scattering.name));
        CAPTURE(ranks);
        CAPTURE(length);
        test::Networks networks;
        CHECK(run_scatter(networks.alphabeta, scattering.schedule, ranks, length).right(length));
        CHECK(run_scatter(networks.counting, scattering.schedule, ranks, length).right(length));
      }
    }
  }
}

TEST_CASE("A reduce-scatter costs its formula at any P") {
  for (const Scattering& scattering : kScatterings) {
    for (const int ranks : test::kRankCounts) {
      CAPTURE(std::string(scattering.name));
      CAPTURE(ranks);
      test::Networks networks;
      const std::int64_t length = std::int64_t{20} * ranks;
      const double time = run_scatter(networks.alphabeta, scattering.schedule, ranks, length)
                              .report.makespan()
                              .value();
      CHECK(time == exactly(formula_of(scattering.schedule, ranks, static_cast<double>(length))));
    }
  }
}

TEST_CASE("Ring and pairwise send each rank what it lacks, halving what its half lacks") {
  for (const int ranks : test::kRankCounts) {
    const std::int64_t length = std::int64_t{20} * ranks;
    for (const Scattering& scattering : kScatterings) {
      if (scattering.schedule == reduce_scatter_recursive_halving &&
          !std::has_single_bit(static_cast<unsigned>(ranks))) {
        continue;  // ranks fold in
      }
      CAPTURE(std::string(scattering.name));
      CAPTURE(ranks);
      test::Networks networks;
      const RunReport report =
          run_scatter(networks.counting, scattering.schedule, ranks, length).report;
      CHECK(std::ranges::all_of(report.ranks, [&](const RankReport& rank) {
        return rank.total().words_sent == Words(20 * (ranks - 1)) &&
               rank.total().words_received == Words(20 * (ranks - 1));
      }));
    }
  }
}

}  // namespace thinwire::algorithms
