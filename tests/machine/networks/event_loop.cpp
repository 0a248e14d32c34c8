// What goes wrong in a run, on both networks that have an event loop: each error says who.
#include "sim/machine/networks/common/event_loop.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>

#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::networks {

using test::BodyCount;
using test::contains;
using test::counted_message;
using test::empty_message;
using test::error_of;

namespace {

constexpr Tag kLoopTag(3);

/// Runs a check on a fresh network of each kind.
void on_each_network(const std::function<void(Network&)>& check) {
  {
    AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0.5)));
    check(network);
  }
  {
    AlphaBetaNetwork network({Seconds(1), Seconds(1), Seconds(0), Seconds(0)});
    check(network);
  }
  CountingNetwork network;
  check(network);
}

template <class Error>
std::string failure(Network& network, int ranks, const RankProgram& program) {
  return error_of<Error>([&] { static_cast<void>(network.run(ranks, program)); });
}

Task<void> cycle(Communicator& comm, BodyCount& count) {
  const int rank = comm.rank().value();
  // Held in the frame of a coroutine that never ends.
  const Message held = counted_message(count, Words(1));
  const auto phase = comm.phase("cycle");
  const Message message = co_await comm.wait(comm.irecv(Rank((rank + 1) % comm.size()), kLoopTag));
  co_await comm.wait(comm.isend(Rank((rank + comm.size() - 1) % comm.size()), kLoopTag, message));
}

Task<void> waits_for_one_that_ended(Communicator& comm) {
  if (comm.rank() == Rank(1)) co_await comm.wait(comm.irecv(Rank(0), kLoopTag));
}

Task<void> waits_for_two(Communicator& comm) {
  if (comm.rank() != Rank(0)) {
    if (comm.rank() == Rank(2)) co_await comm.wait(comm.isend(Rank(0), kLoopTag, empty_message(1)));
    co_return;
  }
  const std::array receives{comm.irecv(Rank(1), kLoopTag), comm.irecv(Rank(2), kLoopTag),
                            comm.irecv(Rank(3), Tag(8))};
  co_await comm.wait_all(receives);
}

Task<void> sends_to_nobody(Communicator& comm, BodyCount& count, bool waits) {
  if (comm.rank() != Rank(2)) co_return;
  const Request send = comm.isend(Rank(0), kLoopTag, counted_message(count, Words(17)));
  if (waits) co_await comm.wait(send);
}

Task<void> posts_and_leaves(Communicator& comm) {
  if (comm.rank() == Rank(1)) static_cast<void>(comm.irecv(Rank(2), kLoopTag));
  co_return;
}

Task<void> receives_and_does_not_wait(Communicator& comm) {
  const int rank = comm.rank().value();
  if (rank == 0) {
    static_cast<void>(comm.irecv(Rank(1), kLoopTag));
    co_await comm.wait(comm.irecv(Rank(1), Tag(0)));
  } else {
    co_await comm.wait(comm.isend(Rank(0), kLoopTag, empty_message(1)));
    co_await comm.wait(comm.isend(Rank(0), Tag(0), empty_message(1)));
  }
}

Task<void> throws_on_rank(Communicator& comm, int thrower, int after, BodyCount& count) {
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % comm.size());
  const Rank previous((rank + comm.size() - 1) % comm.size());
  const auto phase = comm.phase("ring");
  for (int step = 0; step < 10; ++step) {
    if (rank == thrower && step == after) throw std::range_error("this rank has had enough");
    co_await comm.sendrecv(next, counted_message(count, Words(4)), previous, kLoopTag);
  }
}

Task<void> deeper(Communicator& comm, int thrower, int after, BodyCount& count) {
  const Message held = counted_message(count, Words(1));
  co_await throws_on_rank(comm, thrower, after, count);
}

Task<void> sends_to(Communicator& comm, int peer) {
  if (comm.rank() == Rank(1)) {
    co_await comm.wait(comm.isend(Rank(peer), kLoopTag, empty_message(1)));
  }
}

Task<void> receives_from(Communicator& comm, int peer) {
  if (comm.rank() == Rank(1)) co_await comm.wait(comm.irecv(Rank(peer), kLoopTag));
}

Task<void> computes_for(Communicator& comm, double seconds) {
  co_await comm.compute(Seconds(seconds));
}

Task<void> waits_for_nothing(Communicator& comm) {
  const std::vector<Request> none;
  co_await comm.wait_all(none);
}

Task<void> posts_late(Communicator& comm, std::vector<int>& received, BodyCount& count) {
  if (comm.rank() == Rank(0)) {
    std::vector<Request> sends;
    for (int i = 0; i < 5; ++i) {
      sends.push_back(comm.isend(Rank(1), kLoopTag, counted_message(count, Words(1), i)));
    }
    sends.push_back(comm.isend(Rank(1), Tag(0), counted_message(count, Words(1), 99)));
    co_await comm.wait_all(sends);
  } else {
    const Message last = co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
    received.push_back(test::number_of(last));
    for (int i = 0; i < 5; ++i) {
      const Message message = co_await comm.wait(comm.irecv(Rank(0), kLoopTag));
      received.push_back(test::number_of(message));
    }
  }
}

}  // namespace

TEST_CASE("A cycle of waiting ranks is reported with who waits for whom") {
  on_each_network([](Network& network) {
    BodyCount count;
    const std::string text =
        failure<DeadlockError>(network, 3, [&](Communicator& comm) { return cycle(comm, count); });
    CHECK(contains(text, "deadlock: 3 of 3 ranks wait"));
    CHECK(contains(text, "rank 0 waits for rank 1 (tag 3)"));
    CHECK(contains(text, "rank 1 waits for rank 2 (tag 3)"));
    CHECK(contains(text, "rank 2 waits for rank 0 (tag 3)"));
    CHECK(count.most == 3);
    CHECK(count.living == 0);
  });
}

TEST_CASE("A rank that waits for one that ended is reported") {
  on_each_network([](Network& network) {
    const std::string text = failure<DeadlockError>(network, 2, waits_for_one_that_ended);
    CHECK(contains(text, "1 of 2 ranks wait"));
    CHECK(contains(text, "rank 1 waits for rank 0"));
    CHECK_FALSE(contains(text, "rank 0 waits"));
  });
}

TEST_CASE("Of the receives that a rank waits for only the missing ones are reported") {
  on_each_network([](Network& network) {
    const std::string text = failure<DeadlockError>(network, 4, waits_for_two);
    CHECK(contains(text, "rank 0 waits for rank 1 (tag 3)"));
    CHECK(contains(text, "rank 0 waits for rank 3 (tag 8)"));
    CHECK_FALSE(contains(text, "for rank 2"));
  });
}

TEST_CASE("Of many waiting ranks eight are named and the others counted") {
  on_each_network([](Network& network) {
    BodyCount count;
    const std::string text = failure<DeadlockError>(
        network, 100, [&](Communicator& comm) { return cycle(comm, count); });
    CHECK(contains(text, "100 of 100"));
    CHECK(contains(text, "rank 7 waits"));
    CHECK_FALSE(contains(text, "rank 8 waits"));
    CHECK(contains(text, "and 92 more"));
    CHECK(count.living == 0);
  });
}

TEST_CASE("A message that nobody receives is reported") {
  BodyCount count;
  const auto text_on = [&](Network& network, bool waits) {
    return failure<SimulationError>(
        network, 3, [&](Communicator& comm) { return sends_to_nobody(comm, count, waits); });
  };
  const char* unmatched = "rank 2 sent 17 words to rank 0 (tag 3) and nobody received them";
  on_each_network([&](Network& network) { CHECK(contains(text_on(network, false), unmatched)); });
  // A sender that waits for its send waits for the receiver, unless the message is eager.
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0.5)));
  CHECK(contains(text_on(network, true), "rank 2 waits for rank 0 to receive (tag 3)"));
  AlphaBetaNetwork eager(alpha_beta(Seconds(1), Seconds(0.5)), {.eager = Bytes(68)});
  CHECK(contains(text_on(eager, true), unmatched));
  CHECK(count.living == 0);
}

TEST_CASE("A receive that is never matched is reported") {
  on_each_network([](Network& network) {
    const std::string text = failure<UnmatchedError>(network, 3, posts_and_leaves);
    CHECK(contains(text, "rank 1 posted a receive from rank 2 (tag 3) and nothing came"));
  });
}

TEST_CASE("A receive that completed and that nobody waited for is reported") {
  on_each_network([](Network& network) {
    const std::string text = failure<UnmatchedError>(network, 2, receives_and_does_not_wait);
    CHECK(contains(text, "1 receives were posted and complete, and nobody waited for them"));
  });
}

TEST_CASE("An exception in one rank comes out of the run and leaves nothing behind") {
  on_each_network([](Network& network) {
    for (const int thrower : {0, 2, 4}) {
      for (const int after : {0, 1, 9}) {
        CAPTURE(thrower);
        CAPTURE(after);
        BodyCount count;
        const RankProgram program = [&](Communicator& comm) {
          return deeper(comm, thrower, after, count);
        };
        CHECK(failure<std::range_error>(network, 5, program) == "this rank has had enough");
        CHECK(count.living == 0);
        // The network is as good as new.
        const RunReport report =
            network.run(5, [&](Communicator& comm) { return deeper(comm, -1, 0, count); });
        CHECK(report.ranks[0].total().messages_sent == 10);
        CHECK(count.living == 0);
      }
    }
  });
}

TEST_CASE("A program that cannot even be made comes out of the run") {
  on_each_network([](Network& network) {
    BodyCount count;
    const RankProgram program = [&](Communicator& comm) {
      if (comm.rank() == Rank(2)) throw std::range_error("no program");
      return cycle(comm, count);
    };
    CHECK(failure<std::range_error>(network, 3, program) == "no program");
    CHECK(count.living == 0);
  });
}

TEST_CASE("A peer that does not exist is refused by name") {
  on_each_network([](Network& network) {
    for (const int peer : {-1, 4, 1000000, std::numeric_limits<std::int32_t>::min()}) {
      const std::string sends = failure<SimulationError>(
          network, 4, [&](Communicator& comm) { return sends_to(comm, peer); });
      const std::string receives = failure<SimulationError>(
          network, 4, [&](Communicator& comm) { return receives_from(comm, peer); });
      const std::string wanted = "rank 1 names rank " + std::to_string(peer) + " as its peer";
      CHECK(contains(sends, wanted));
      CHECK(contains(receives, wanted));
    }
  });
}

TEST_CASE("Local work that is negative or not finite is refused") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0.5)));
  for (const double seconds : {-1.0, -1e-300, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    CHECK(contains(failure<SimulationError>(
                       network, 2, [&](Communicator& comm) { return computes_for(comm, seconds); }),
                   "local work must take a finite time"));
  }
}

TEST_CASE("Waiting for nothing goes straight on") {
  on_each_network(
      [](Network& network) { CHECK(network.run(3, waits_for_nothing).makespan() == Seconds(0)); });
}

TEST_CASE("Messages that came before their receives were posted are kept in order") {
  on_each_network([](Network& network) {
    BodyCount count;
    std::vector<int> received;
    network.run(2, [&](Communicator& comm) { return posts_late(comm, received, count); });
    CHECK(received == std::vector{99, 0, 1, 2, 3, 4});
    CHECK(count.living == 0);
  });
}

}  // namespace thinwire::networks
