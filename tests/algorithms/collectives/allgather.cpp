#include "algorithms/collectives/allgather.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

/// How many words the message of a rank has.
using Lengths = std::int64_t (*)(int rank);

struct Gathering {
  const char* name;
  AllgatherSchedule schedule;
  int (*messages)(int ranks);  ///< of the critical path
};

int messages_of_ring(int ranks) { return ranks - 1; }
int messages_of_neighbors(int ranks) { return ranks % 2 == 0 ? ranks / 2 : ranks - 1; }

constexpr std::array kGatherings{
    Gathering{"recursive doubling", allgather, test::ceil_log2},
    Gathering{"bruck", allgather_bruck, test::ceil_log2},
    Gathering{"ring", allgather_ring, messages_of_ring},
    Gathering{"neighbor exchange", allgather_neighbor_exchange, messages_of_neighbors}};

Task<void> gather(Communicator& comm, AllgatherSchedule schedule, Message mine,
                  std::vector<Message>& gathered) {
  const Concatenation all = co_await schedule(comm, std::move(mine));
  gathered = all.by_rank();
}

struct Outcome {
  RunReport report;
  bool right = true;
};

Outcome run(Network& network, AllgatherSchedule schedule, int ranks, Lengths lengths) {
  BodyCount count;
  Outcome outcome;
  {
    std::vector<std::vector<Message>> gathered(static_cast<std::size_t>(ranks));
    outcome.report = network.run(ranks, [&](Communicator& comm) {
      const int rank = comm.rank().value();
      return gather(comm, schedule, test::counted_message(count, Words(lengths(rank)), 1000 + rank),
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
  for (const Gathering& gathering : kGatherings) {
    for (const int ranks : test::kRankCounts) {
      CAPTURE(std::string(gathering.name));
      CAPTURE(ranks);
      test::Networks networks;
      for (const Lengths lengths : {equal_lengths, varied_lengths, one_long}) {
        CHECK(run(networks.alphabeta, gathering.schedule, ranks, lengths).right);
        CHECK(run(networks.counting, gathering.schedule, ranks, lengths).right);
      }
    }
  }
}

TEST_CASE("An allgather costs the messages of its schedule and P - 1 times the words at any P") {
  for (const Gathering& gathering : kGatherings) {
    for (const int ranks : test::kRankCounts) {
      CAPTURE(std::string(gathering.name));
      CAPTURE(ranks);
      test::Networks networks;
      const int messages = gathering.messages(ranks);
      CHECK(run(networks.alphabeta, gathering.schedule, ranks, equal_lengths)
                .report.makespan()
                .value() == exactly(formula(messages, 37.0 * (ranks - 1))));
      const RunReport counted =
          run(networks.counting, gathering.schedule, ranks, equal_lengths).report;
      CHECK(counted.steps() == messages);
      bool even = true;
      for (const RankReport& rank : counted.ranks) {
        const Traffic total = rank.total();
        even = even && total.messages_sent == messages && total.messages_received == messages &&
               total.words_sent == Words(37 * (ranks - 1)) &&
               total.words_received == Words(37 * (ranks - 1));
      }
      CHECK(even);
    }
  }
}

TEST_CASE("An allgather of varied lengths brings each rank what the others have") {
  for (const Gathering& gathering : kGatherings) {
    for (const int ranks : test::kRankCounts) {
      test::Networks networks;
      const RunReport counted =
          run(networks.counting, gathering.schedule, ranks, varied_lengths).report;
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
}

TEST_CASE("One long message passes every rank of a ring, and only the pairs of an exchange") {
  // Serial models of the message of rank 1: around the ring it is sent P - 1 times in a row; in the
  // neighbour exchange rank 0 has it after one step, and both go on with it in both directions.
  for (const int ranks : test::kRankCounts) {
    if (ranks < 2) continue;
    CAPTURE(ranks);
    test::Networks networks;
    const auto time = [&](AllgatherSchedule schedule) {
      return run(networks.alphabeta, schedule, ranks, one_long).report.makespan().value();
    };
    const double ring = formula(ranks - 1, 5000.0 * (ranks - 1));
    CHECK(time(allgather_ring) == exactly(ring));
    const int steps = messages_of_neighbors(ranks);
    CHECK(time(allgather_neighbor_exchange) == exactly(formula(steps, 5000.0 * steps)));
  }
}

}  // namespace thinwire::algorithms
