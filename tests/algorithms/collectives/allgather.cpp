#include "algorithms/collectives/allgather.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

using test::BodyCount;
using test::exactly;
using test::formula;

namespace {

/// How many words the message of a rank has.
using Lengths = std::int64_t (*)(int rank);

Task<void> gather(Communicator& comm, Message mine, std::vector<Message>& gathered) {
  const Concatenation all = co_await allgather(comm, std::move(mine));
  gathered = all.by_rank();
}

struct Outcome {
  RunReport report;
  bool right = true;
};

Outcome run(Network& network, int ranks, Lengths lengths) {
  BodyCount count;
  Outcome outcome;
  {
    std::vector<std::vector<Message>> gathered(static_cast<std::size_t>(ranks));
    outcome.report = network.run(ranks, [&](Communicator& comm) {
      const int rank = comm.rank().value();
      return gather(comm, test::counted_message(count, Words(lengths(rank)), 1000 + rank),
                    gathered[static_cast<std::size_t>(rank)]);
    });
    for (const std::vector<Message>& messages : gathered) {
      outcome.right = outcome.right && messages.size() == gathered.size();
      for (int from = 0; outcome.right && from < ranks; ++from) {
        const Message& message = messages[static_cast<std::size_t>(from)];
        outcome.right =
            test::number_of(message) == 1000 + from && message.words == Words(lengths(from));
      }
    }
    outcome.right = outcome.right && count.most == ranks;  // nothing is copied
  }
  outcome.right = outcome.right && count.living == 0;
  return outcome;
}

std::int64_t equal_lengths(int /*rank*/) { return 37; }
std::int64_t varied_lengths(int rank) { return rank % 3 == 0 ? 0 : 10 * rank; }
std::int64_t one_long(int rank) { return rank == 1 ? 5000 : 0; }

}  // namespace

TEST_CASE("Every rank gathers every message in the order of the ranks") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    test::Networks networks;
    for (const Lengths lengths : {equal_lengths, varied_lengths, one_long}) {
      CHECK(run(networks.alphabeta, ranks, lengths).right);
      CHECK(run(networks.counting, ranks, lengths).right);
    }
  }
}

TEST_CASE("An allgather costs ceil log P messages and P - 1 times the words at any P") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    test::Networks networks;
    const int log = test::ceil_log2(ranks);
    CHECK(run(networks.alphabeta, ranks, equal_lengths).report.makespan().value() ==
          exactly(formula(log, 37.0 * (ranks - 1))));
    const RunReport counted = run(networks.counting, ranks, equal_lengths).report;
    CHECK(counted.steps() == log);
    bool even = true;
    for (const RankReport& rank : counted.ranks) {
      const Traffic total = rank.total();
      even = even && total.messages_sent == log && total.messages_received == log &&
             total.words_sent == Words(37 * (ranks - 1)) &&
             total.words_received == Words(37 * (ranks - 1));
    }
    CHECK(even);
  }
}

TEST_CASE("An allgather of varied lengths brings each rank what the others have") {
  for (const int ranks : test::kRankCounts) {
    test::Networks networks;
    const RunReport counted = run(networks.counting, ranks, varied_lengths).report;
    std::int64_t all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += varied_lengths(rank);
    bool right = true;
    for (int rank = 0; rank < ranks; ++rank) {
      right = right && counted.ranks[static_cast<std::size_t>(rank)].total().words_received ==
                           Words(all - varied_lengths(rank));
    }
    CHECK(right);
  }
}

}  // namespace thinwire::algorithms
