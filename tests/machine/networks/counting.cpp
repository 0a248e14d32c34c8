#include "sim/machine/networks/counting/counting.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::networks {

using test::empty_message;

namespace {

constexpr Tag kCountingTag(0);

// Schedules written out here, so that the counting network is judged by nothing but itself.

Task<void> recursive_doubling(Communicator& comm, std::int64_t words) {
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    const Rank peer(comm.rank().value() ^ distance);
    co_await comm.sendrecv(peer, empty_message(words * distance), peer, kCountingTag);
  }
}

Task<void> ring(Communicator& comm, std::int64_t words) {
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % comm.size());
  const Rank previous((rank + comm.size() - 1) % comm.size());
  for (int step = 1; step < comm.size(); ++step) {
    co_await comm.sendrecv(next, empty_message(words), previous, kCountingTag);
  }
}

Task<void> pipeline(Communicator& comm) {
  const int rank = comm.rank().value();
  if (rank > 0) co_await comm.wait(comm.irecv(Rank(rank - 1), kCountingTag));
  if (rank + 1 < comm.size()) {
    co_await comm.wait(comm.isend(Rank(rank + 1), kCountingTag, empty_message(1)));
  }
}

Task<void> all_at_once(Communicator& comm, bool rotated) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  std::vector<Request> requests;
  for (int step = 1; step < size; ++step) {
    const int from = rotated ? (rank - step + size) % size : (step <= rank ? step - 1 : step);
    const int to = rotated ? (rank + step) % size : from;
    requests.push_back(comm.irecv(Rank(from), kCountingTag));
    requests.push_back(comm.isend(Rank(to), kCountingTag, empty_message(3)));
  }
  co_await comm.wait_all(requests);
}

Task<void> binomial_broadcast(Communicator& comm) {
  const int rank = comm.rank().value();
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    if (rank < distance && rank + distance < comm.size()) {
      co_await comm.wait(comm.isend(Rank(rank + distance), kCountingTag, empty_message(5)));
    } else if (rank >= distance && rank < 2 * distance) {
      co_await comm.wait(comm.irecv(Rank(rank - distance), kCountingTag));
    }
  }
}

Task<void> counted_fan_in(Communicator& comm) {
  if (comm.rank() == Rank(0)) {
    for (int from = comm.size() - 1; from > 0; --from) {
      co_await comm.wait(comm.irecv(Rank(from), kCountingTag));
    }
  } else {
    co_await comm.wait(comm.isend(Rank(0), kCountingTag, empty_message(2)));
  }
}

Task<void> send_without_waiting(Communicator& comm) {
  if (comm.rank() == Rank(0)) {
    for (int i = 0; i < 3; ++i)
      static_cast<void>(comm.isend(Rank(1), kCountingTag, empty_message(1)));
    co_return;
  }
  for (int i = 0; i < 3; ++i) co_await comm.wait(comm.irecv(Rank(0), kCountingTag));
}

Task<void> tells_time(Communicator& comm, bool& always_zero) {
  co_await comm.compute(Seconds(5));
  always_zero = comm.now() == Seconds(0);
}

bool every_rank(const RunReport& report, std::int64_t messages, std::int64_t words) {
  return std::all_of(report.ranks.begin(), report.ranks.end(), [&](const RankReport& rank) {
    const Traffic total = rank.total();
    return total.messages_sent == messages && total.messages_received == messages &&
           total.words_sent == Words(words) && total.words_received == Words(words);
  });
}

}  // namespace

TEST_CASE("Counting finds log P steps in recursive doubling") {
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    CountingNetwork network;
    const RunReport report =
        network.run(ranks, [](Communicator& comm) { return recursive_doubling(comm, 10); });
    const int log = test::ceil_log2(ranks);
    CHECK(report.steps() == log);
    CHECK(every_rank(report, log, 10 * (ranks - 1)));
    CHECK(report.makespan() == Seconds(0));
  }
}

TEST_CASE("Counting finds P - 1 steps in a ring and in a pipeline") {
  for (const int ranks : test::kRankCounts) {
    CountingNetwork network;
    const RunReport around = network.run(ranks, [](Communicator& comm) { return ring(comm, 7); });
    CHECK(around.steps() == ranks - 1);
    CHECK(every_rank(around, ranks - 1, 7 * (ranks - 1)));
    CHECK(network.run(ranks, pipeline).steps() == ranks - 1);
  }
}

TEST_CASE("Counting finds P - 1 steps in a rotated direct exchange and more in one by rank") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    CountingNetwork network;
    const RunReport rotated =
        network.run(ranks, [](Communicator& comm) { return all_at_once(comm, true); });
    CHECK(rotated.steps() == ranks - 1);
    CHECK(every_rank(rotated, ranks - 1, 3 * (ranks - 1)));
    const RunReport by_rank =
        network.run(ranks, [](Communicator& comm) { return all_at_once(comm, false); });
    CHECK(every_rank(by_rank, ranks - 1, 3 * (ranks - 1)));
    if (ranks > 3) {
      CHECK(by_rank.steps() > ranks - 1);
    }
  }
}

TEST_CASE("Counting finds ceil log P steps in a binomial broadcast") {
  for (const int ranks : test::kRankCounts) {
    CountingNetwork network;
    const RunReport report = network.run(ranks, binomial_broadcast);
    CHECK(report.steps() == test::ceil_log2(ranks));
    std::int64_t sent = 0;
    for (const RankReport& rank : report.ranks) sent += rank.total().messages_sent;
    CHECK(sent == ranks - 1);
    CHECK(report.ranks[0].total().words_sent == Words(5 * test::ceil_log2(ranks)));
  }
}

TEST_CASE("Counting lets a port take one message a step") {
  for (const int ranks : {2, 3, 8, 17}) {
    CountingNetwork network;
    const RunReport report = network.run(ranks, counted_fan_in);
    CHECK(report.steps() == ranks - 1);
    CHECK(report.ranks[1].steps == 1);
  }
}

TEST_CASE("Counting counts the steps of sends that nobody waits for at their receivers") {
  CountingNetwork network;
  const RunReport report = network.run(2, send_without_waiting);
  CHECK(report.ranks[1].steps == 3);
  CHECK(report.ranks[0].total().messages_sent == 3);
}

TEST_CASE("Counting has no clock") {
  CountingNetwork network;
  bool always_zero = false;
  const RunReport report =
      network.run(1, [&](Communicator& comm) { return tells_time(comm, always_zero); });
  CHECK(always_zero);
  CHECK(report.steps() == 0);
  CHECK(report.ranks[0].total().time == Seconds(0));
}

}  // namespace thinwire::networks
