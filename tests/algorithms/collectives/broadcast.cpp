#include "algorithms/collectives/broadcast.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

using test::BodyCount;
using test::counted_message;
using test::exactly;
using test::formula;

namespace {

constexpr std::int64_t kWords = 123;

Task<void> hear(Communicator& comm, Rank root, Message mine, Message& heard) {
  heard = co_await broadcast(comm, root, std::move(mine));
}

RunReport run(Network& network, int ranks, int root) {
  BodyCount count;
  std::vector<Message> heard(static_cast<std::size_t>(ranks));
  RunReport report = network.run(ranks, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    // What the others pass in is ignored.
    return hear(comm, Rank(root), counted_message(count, Words(rank == root ? kWords : 9), rank),
                heard[static_cast<std::size_t>(rank)]);
  });
  CHECK(std::all_of(heard.begin(), heard.end(), [&](const Message& message) {
    return test::number_of(message) == root && message.words == Words(kWords);
  }));
  return report;
}

}  // namespace

TEST_CASE("A broadcast from any root costs ceil log P messages at any P") {
  for (const int ranks : test::kRankCounts) {
    for (int root = 0; root < ranks; ++root) {
      CAPTURE(ranks);
      CAPTURE(root);
      test::Networks networks;
      const int log = test::ceil_log2(ranks);
      CHECK(run(networks.alphabeta, ranks, root).makespan().value() ==
            exactly(formula(log, static_cast<double>(log * kWords))));
      const RunReport counted = run(networks.counting, ranks, root);
      CHECK(counted.steps() == log);
      std::int64_t messages = 0;
      bool once = true;
      for (int rank = 0; rank < ranks; ++rank) {
        const Traffic total = counted.ranks[static_cast<std::size_t>(rank)].total();
        messages += total.messages_sent;
        once = once && total.messages_received == (rank == root ? 0 : 1);
      }
      CHECK(messages == ranks - 1);
      CHECK(once);
    }
  }
}

}  // namespace thinwire::algorithms
