#include "algorithms/collectives/direct_exchange.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

constexpr std::int64_t kExchangedWords = 2000;

/// Notes who sent what, and charges the same for each message.
class Noting final : public Exchange {
 public:
  Noting(Rank rank, BodyCount& count, Seconds work) : rank_(rank), count_(count), work_(work) {}

  [[nodiscard]] Message outgoing(Rank to) override {
    return counted_message(count_, Words(kExchangedWords), 1000 * rank_.value() + to.value());
  }
  [[nodiscard]] Seconds incoming(Rank from, Message message) override {
    received_.emplace_back(from.value(), test::number_of(message));
    return work_;
  }

  /// Exactly one message from every other rank, and the one that was meant for this rank.
  [[nodiscard]] bool complete(int ranks) const {
    std::vector<int> sources;
    for (const auto& [from, number] : received_) {
      if (number != 1000 * from + rank_.value()) return false;
      sources.push_back(from);
    }
    std::sort(sources.begin(), sources.end());
    std::vector<int> expected;
    for (int from = 0; from < ranks; ++from) {
      if (from != rank_.value()) expected.push_back(from);
    }
    return sources == expected;
  }

 private:
  Rank rank_;
  BodyCount& count_;
  Seconds work_;
  std::vector<std::pair<int, int>> received_;
};

Task<void> exchange_all(Communicator& comm, ExchangeOrder order, Seconds work, BodyCount& count,
                        int& complete) {
  Noting exchange(comm.rank(), count, work);
  co_await direct_exchange(comm, exchange, order);
  if (exchange.complete(comm.size())) ++complete;
}

RunReport run(Network& network, int ranks, ExchangeOrder order, Seconds work = Seconds(0)) {
  BodyCount count;
  int complete = 0;
  RunReport report = network.run(
      ranks, [&](Communicator& comm) { return exchange_all(comm, order, work, count, complete); });
  CHECK(complete == ranks);
  CHECK(count.living == 0);
  return report;
}

std::vector<ExchangeOrder> all_orders() {
  std::vector<ExchangeOrder> orders;
  for (const bool rotated : {true, false}) {
    for (const bool sliding : {true, false}) {
      for (const int bucket : {1, 2, 4, 16}) {
        orders.push_back({.rotated = rotated, .bucket = bucket, .sliding = sliding});
      }
    }
  }
  return orders;
}

}  // namespace

TEST_CASE("In a direct exchange every rank gets from every other what was meant for it") {
  for (const int ranks : test::kRankCounts) {
    for (const ExchangeOrder order : all_orders()) {
      CAPTURE(ranks);
      CAPTURE(order.rotated);
      CAPTURE(order.bucket);
      CAPTURE(order.sliding);
      test::Networks networks;
      run(networks.alphabeta, ranks, order);
      const RunReport counted = run(networks.counting, ranks, order);
      bool even = true;
      for (const RankReport& rank : counted.ranks) {
        const Traffic total = rank.total();
        even = even && total.messages_sent == ranks - 1 && total.messages_received == ranks - 1 &&
               total.words_sent == Words((ranks - 1) * kExchangedWords);
      }
      CHECK(even);
    }
  }
}

TEST_CASE("A rotated direct exchange costs P - 1 messages with any bucket") {
  for (const int ranks : test::kRankCounts) {
    for (const ExchangeOrder order : all_orders()) {
      if (!order.rotated) continue;
      CAPTURE(ranks);
      CAPTURE(order.bucket);
      CAPTURE(order.sliding);
      test::Networks networks;
      const double steps = ranks - 1;
      CHECK(run(networks.alphabeta, ranks, order).makespan().value() ==
            exactly(formula(steps, steps * kExchangedWords)));
      CHECK(static_cast<double>(run(networks.counting, ranks, order).steps()) == steps);
    }
  }
}

TEST_CASE("Without rotation the ranks of a bucket receive at once, one bucket after another") {
  for (const int ranks : {2, 3, 4, 7, 8, 12, 16, 17, 64}) {
    for (const bool sliding : {true, false}) {
      for (const int bucket : {1, 2, 4, 16, 64}) {
        CAPTURE(ranks);
        CAPTURE(bucket);
        CAPTURE(sliding);
        test::Networks networks;
        const ExchangeOrder order{.rotated = false, .bucket = bucket, .sliding = sliding};
        const double once = formula(ranks - 1, (ranks - 1) * kExchangedWords);
        const int buckets = (ranks + bucket - 1) / bucket;
        CHECK(run(networks.alphabeta, ranks, order).makespan().value() == exactly(buckets * once));
      }
    }
  }
}

TEST_CASE("More exchanges in flight are never slower, with rotation or without") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    for (const bool rotated : {true, false}) {
      double before = 1e9;
      for (const int bucket : {1, 2, 4, 8, 16, 32, 64}) {
        CAPTURE(ranks);
        CAPTURE(rotated);
        CAPTURE(bucket);
        test::Networks networks;
        const double time = run(networks.alphabeta, ranks, {.rotated = rotated, .bucket = bucket})
                                .makespan()
                                .value();
        CHECK(time <= before * (1 + 1e-9));
        before = time;
      }
      CHECK(before == exactly(formula(ranks - 1, (ranks - 1) * kExchangedWords)));
    }
  }
}

TEST_CASE("Taking in is hidden behind later exchanges, not those that share the port") {
  const double message = formula(1, kExchangedWords);
  for (const int ranks : {2, 3, 8, 12, 17}) {
    for (const double share : {0.25, 0.75, 3.0}) {
      CAPTURE(ranks);
      CAPTURE(share);
      const Seconds work(share * message);
      const double steps = ranks - 1;
      test::Networks networks;
      // One at a time: nothing overlaps.
      CHECK(run(networks.alphabeta, ranks, {.rotated = true, .bucket = 1, .sliding = true}, work)
                .makespan()
                .value() == exactly(steps * (message + work.value())));
      // All under way: they share the ports and end together, before any can be taken in.
      for (const bool sliding : {true, false}) {
        CHECK(run(networks.alphabeta, ranks, {.rotated = true, .bucket = 64, .sliding = sliding},
                  work)
                  .makespan()
                  .value() == exactly(steps * (message + work.value())));
      }
      // In between.
      for (const int bucket : {2, 4}) {
        for (const bool sliding : {true, false}) {
          const double time = run(networks.alphabeta, ranks,
                                  {.rotated = true, .bucket = bucket, .sliding = sliding}, work)
                                  .makespan()
                                  .value();
          CHECK(time >= std::max(steps * message + work.value(), message + steps * work.value()) *
                            (1 - 1e-9));
          CHECK(time <= steps * (message + work.value()) * (1 + 1e-9));
        }
      }
    }
  }
}

}  // namespace thinwire::algorithms
