#include "algorithms/collectives/alltoall.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

using test::BodyCount;
using test::exactly;
using test::formula;

namespace {

using BlockSchedule =
    std::function<Task<std::vector<Message>>(Communicator&, std::vector<Message>)>;

struct BlockExchanging {
  std::string name;
  BlockSchedule schedule;
};

BlockSchedule linear_of(int in_flight) {
  return [in_flight](Communicator& comm, std::vector<Message> blocks) {
    return alltoall_linear(comm, std::move(blocks), in_flight);
  };
}

Task<std::vector<Message>> bruck(Communicator& comm, std::vector<Message> blocks) {
  return alltoall_bruck(comm, std::move(blocks));
}

std::vector<BlockExchanging> block_schedules() {
  return {{"pairwise", alltoall_pairwise},
          {"linear", linear_of(0)},
          {"three at a time", linear_of(3)},
          {"bruck", bruck}};
}

/// The words of the block from one rank for another.
using BlockLength = std::int64_t (*)(int from, int to);

std::int64_t even_block(int /*from*/, int /*to*/) { return 29; }
std::int64_t uneven_block(int from, int to) { return (from + 2 * to) % 5 == 0 ? 0 : from + 3 * to; }

struct BlockOutcome {
  RunReport report;
  bool right = true;
};

Task<void> exchange_blocks(Communicator& comm, const BlockSchedule& schedule,
                           std::vector<Message> blocks, std::vector<Message>& result) {
  result = co_await schedule(comm, std::move(blocks));
}

BlockOutcome run_blocks(Network& network, const BlockSchedule& schedule, int ranks,
                        BlockLength length) {
  BodyCount count;
  BlockOutcome outcome;
  {
    std::vector<std::vector<Message>> results(static_cast<std::size_t>(ranks));
    outcome.report = network.run(ranks, [&](Communicator& comm) {
      const int from = comm.rank().value();
      std::vector<Message> blocks;
      for (int to = 0; to < ranks; ++to) {
        blocks.push_back(test::counted_message(count, Words(length(from, to)), 1000 * from + to));
      }
      return exchange_blocks(comm, schedule, std::move(blocks),
                             results[static_cast<std::size_t>(from)]);
    });
    for (int to = 0; to < ranks; ++to) {
      const std::vector<Message>& received = results[static_cast<std::size_t>(to)];
      outcome.right = outcome.right && std::cmp_equal(received.size(), ranks);
      for (int from = 0; outcome.right && from < ranks; ++from) {
        const Message& message = received[static_cast<std::size_t>(from)];
        outcome.right = test::number_of(message) == 1000 * from + to &&
                        message.words == Words(length(from, to));
      }
    }
    outcome.right = outcome.right && count.most == ranks * ranks;  // nothing is copied
  }
  outcome.right = outcome.right && count.living == 0;
  return outcome;
}

}  // namespace

TEST_CASE("Every rank ends with the blocks that are for it, by sender") {
  for (const BlockExchanging& exchanging : block_schedules()) {
    for (const int ranks : test::kRankCounts) {
      CAPTURE(exchanging.name);
      CAPTURE(ranks);
      test::Networks networks;
      for (const BlockLength length : {even_block, uneven_block}) {
        CHECK(run_blocks(networks.alphabeta, exchanging.schedule, ranks, length).right);
        CHECK(run_blocks(networks.counting, exchanging.schedule, ranks, length).right);
      }
    }
  }
}

TEST_CASE("Sent directly, the blocks cost P - 1 messages whatever is in flight together") {
  for (const BlockExchanging& exchanging : block_schedules()) {
    if (exchanging.name == "bruck") continue;
    for (const int ranks : test::kRankCounts) {
      CAPTURE(exchanging.name);
      CAPTURE(ranks);
      test::Networks networks;
      const auto report = [&](Network& network) {
        return run_blocks(network, exchanging.schedule, ranks, even_block).report;
      };
      CHECK(report(networks.alphabeta).makespan().value() ==
            exactly(formula(ranks - 1, 29.0 * (ranks - 1))));
      CHECK(report(networks.counting).steps() == ranks - 1);
    }
  }
}

TEST_CASE("By Bruck's algorithm a block is sent as often as its distance has bits") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    test::Networks networks;
    int hops = 0;
    for (unsigned distance = 1; std::cmp_less(distance, ranks); ++distance) {
      hops += std::popcount(distance);
    }
    const int log = test::ceil_log2(ranks);
    CHECK(run_blocks(networks.alphabeta, bruck, ranks, even_block).report.makespan().value() ==
          exactly(formula(log, 29.0 * hops)));
    const RunReport even = run_blocks(networks.counting, bruck, ranks, even_block).report;
    CHECK(even.steps() == log);
    CHECK(std::ranges::all_of(even.ranks, [&](const RankReport& rank) {
      return rank.total().messages_sent == log && rank.total().words_sent == Words(29 * hops);
    }));
    std::int64_t sent = 0;
    std::int64_t expected = 0;
    for (const RankReport& rank :
         run_blocks(networks.counting, bruck, ranks, uneven_block).report.ranks) {
      sent += rank.total().words_sent.value();
    }
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        const auto distance = static_cast<unsigned>((to - from + ranks) % ranks);
        expected += std::popcount(distance) * uneven_block(from, to);
      }
    }
    CHECK(sent == expected);
    int blocks = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
      blocks += bruck_blocks(ranks, distance);
    }
    CHECK(blocks == hops);
  }
}

}  // namespace thinwire::algorithms
