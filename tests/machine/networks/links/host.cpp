// What a host costs, in closed form, on `links` and on the α-β machine.
#include "sim/machine/networks/common/host.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/common/waiting.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::Doubles;
using test::exactly;
using test::PlatformFile;

namespace {

constexpr double kLatency = 3e-6;
constexpr double kPerWord = 4e-9;  // 1 GB/s

/// One message from rank 0 to rank 1; each rank may compute before.
RankProgram message_of(std::int64_t words, double sender_late, double receiver_late) {
  return [=](Communicator& comm) -> Task<void> {
    return [](Communicator& own, std::int64_t length, double sends, double receives) -> Task<void> {
      if (own.rank() == Rank(0)) {
        co_await own.compute(Seconds(sends));
        co_await own.wait(own.isend(Rank(1), Tag(0), test::empty_message(length)));
      } else {
        co_await own.compute(Seconds(receives));
        co_await own.wait(own.irecv(Rank(0), Tag(0)));
      }
    }(comm, words, sender_late, receiver_late);
  };
}

/// The α-β machine whose messages have a wire of kLatency and kPerWord.
AlphaBetaNetwork wire_with(const HostCosts& host) {
  return AlphaBetaNetwork({.latency = Seconds(kLatency),
                           .overhead = Seconds(0),
                           .gap = Seconds(0),
                           .gap_per_word = Seconds(kPerWord)},
                          host);
}

/// When the ranks are done on a wire of kLatency and kPerWord. Both networks must agree.
Doubles done_with(const HostCosts& host, const RankProgram& program) {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const Doubles links =
      test::times_on_links({.platform = file.path(), .settings = {.host = host}}, program);
  AlphaBetaNetwork alphabeta = wire_with(host);
  const Doubles ports = test::finished_of(alphabeta.run(2, program));
  CHECK(links[0] == test::approx(ports[0]).epsilon(1e-12));
  CHECK(links[1] == test::approx(ports[1]).epsilon(1e-12));
  return links;
}

}  // namespace

TEST_CASE("Overhead takes time of both processors, and nothing of the wire") {
  for (const std::int64_t words : {0, 1, 1000}) {
    const double wire = kLatency + kPerWord * static_cast<double>(words);
    const Doubles done = done_with({.overhead = Seconds(1e-6)}, message_of(words, 0, 0));
    CHECK(done[0] == exactly(1e-6 + wire));
    CHECK(done[1] == exactly(1e-6 + wire + 1e-6));
  }
}

TEST_CASE("Eager messages are copied on both sides, longer ones are not") {
  const HostCosts host{
      .overhead = Seconds(1e-6), .eager = Bytes(4000), .eager_copy_per_word = Seconds(2e-9)};
  const Doubles eager = done_with(host, message_of(1000, 0, 0));
  CHECK(eager[0] == exactly(1e-6 + 2e-6 + 4e-6));  // has left after 1000 words
  CHECK(eager[1] == exactly(1e-6 + 2e-6 + kLatency + 4e-6 + 1e-6 + 2e-6));
  const Doubles longer = done_with(host, message_of(1001, 0, 0));
  CHECK(longer[1] == exactly(1e-6 + kLatency + 4.004e-6 + 1e-6));
}

TEST_CASE("A handshake takes a latency to announce a message and one to ask for it") {
  const HostCosts host{.handshake = true};
  const double wire = kLatency + 4e-6;
  CHECK(done_with(host, message_of(1000, 0, 0))[1] == exactly(2 * kLatency + wire));
  // The announcement has arrived when the receive is posted, and the other way round.
  CHECK(done_with(host, message_of(1000, 0, 1))[1] == exactly(1 + kLatency + wire));
  CHECK(done_with(host, message_of(1000, 1, 0))[1] == exactly(1 + 2 * kLatency + wire));
  CHECK(done_with(host, message_of(1000, 0, kLatency / 2))[1] == exactly(2 * kLatency + wire));
  // What is eager needs none.
  const HostCosts eager{.eager = Bytes(4000), .handshake = true};
  CHECK(done_with(eager, message_of(1000, 0, 0))[1] == exactly(wire));
}

TEST_CASE("What a message waits for at its host, a rank's messages wait for together") {
  const auto two = [](Communicator& comm) -> Task<void> {
    for (int i = 0; i < 2; ++i) {
      if (comm.rank() == Rank(0)) {
        (void)comm.isend(Rank(1), Tag(i), test::empty_message(1000));
      }
    }
    if (comm.rank() == Rank(0)) co_return;
    const Request first = comm.irecv(Rank(0), Tag(0));
    const Request second = comm.irecv(Rank(0), Tag(1));
    co_await comm.wait(first);
    co_await comm.wait(second);
  };
  // Each message needs 4 us of the wire, whose bandwidth they share.
  const double wire = 2 * 4e-6 + kLatency;
  CHECK(done_with({.latency = Seconds(5e-6)}, two)[1] == exactly(5e-6 + wire));
  const HostCosts eager{.eager = Bytes(4000), .eager_per_word = Seconds(2e-9)};
  CHECK(done_with(eager, two)[1] == exactly(2e-6 + wire));
  CHECK(done_with({.eager = Bytes(3999), .eager_per_word = Seconds(2e-9)}, two)[1] ==
        exactly(wire));
  CHECK(done_with({.handshake_time = Seconds(7e-6)}, two)[1] == exactly(7e-6 + wire));
  // Fetched if longer than the limit, and eager.
  const auto fetching = [&](std::int64_t eager_bytes, std::int64_t beyond) {
    return done_with(
        {.eager = Bytes(eager_bytes), .fetch = Seconds(3e-6), .fetched_beyond = Bytes(beyond)},
        two)[1];
  };
  CHECK(fetching(4000, 0) == exactly(3e-6 + wire));
  CHECK(fetching(4000, 3999) == exactly(3e-6 + wire));
  CHECK(fetching(4000, 4000) == exactly(wire));
  CHECK(fetching(3999, 0) == exactly(wire));
}

TEST_CASE("A message that is not inline is complete when its acknowledgement has returned") {
  const auto host = [](std::int64_t inlined) {
    return HostCosts{.eager = Bytes(4000), .inlined = Bytes(inlined)};
  };
  const double wire = kLatency + 4e-6;
  CHECK(done_with(host(0), message_of(1000, 0, 0))[0] == exactly(4e-6));
  CHECK(done_with(host(4000), message_of(1000, 0, 0))[0] == exactly(4e-6));
  const Doubles acknowledged = done_with(host(3999), message_of(1000, 0, 0));
  CHECK(acknowledged[0] == exactly(wire + kLatency));
  CHECK(acknowledged[1] == exactly(wire));
  // One that is not eager is complete when it is delivered, as without the setting.
  CHECK(done_with(host(3999), message_of(1001, 0, 0))[0] == exactly(kLatency + 4.004e-6));
}

TEST_CASE("Buffered messages are complete at once, and share the port with those that follow") {
  const auto one_after_the_other = [](Communicator& comm) -> Task<void> {
    if (comm.rank() == Rank(0)) {
      for (const Rank to : {Rank(1), Rank(2)}) {
        co_await comm.wait(comm.isend(to, Tag(0), test::empty_message(1000)));
      }
    } else {
      co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
    }
  };
  const auto done = [&](const HostCosts& host) {
    AlphaBetaNetwork network = wire_with(host);
    return test::finished_of(network.run(3, one_after_the_other));
  };
  const Doubles in_turn = done({.eager = Bytes(4000), .buffered = Bytes(3999)});
  CHECK(in_turn[0] == exactly(2 * 4e-6));
  CHECK(in_turn[1] == exactly(4e-6 + kLatency));
  CHECK(in_turn[2] == exactly(2 * 4e-6 + kLatency));
  const Doubles together = done({.eager = Bytes(4000), .buffered = Bytes(4000)});
  CHECK(together[0] == exactly(0));
  CHECK(together[1] == exactly(2 * 4e-6 + kLatency));
  CHECK(together[2] == exactly(2 * 4e-6 + kLatency));
  // The sender copies before that, does not wait while they stay in buffers, and waits for no
  // acknowledgement.
  const Doubles costs = done({.eager = Bytes(4000),
                              .eager_copy_per_word = Seconds(2e-9),
                              .eager_per_word = Seconds(3e-9),
                              .buffered = Bytes(4000),
                              .inlined = Bytes(100)});
  CHECK(costs[0] == exactly(2 * 2e-6));
}

TEST_CASE("Buffered messages to the same rank arrive in order, each at the whole bandwidth") {
  constexpr int kMessages = 5;
  Doubles arrivals;
  const auto stream = [&arrivals](Communicator& comm) -> Task<void> {
    return [](Communicator& own, Doubles& times) -> Task<void> {
      std::vector<Request> requests;
      for (int i = 0; i < kMessages; ++i) {
        requests.push_back(own.rank() == Rank(0)
                               ? own.isend(Rank(1), Tag(i), test::empty_message(1000))
                               : own.irecv(Rank(0), Tag(i)));
      }
      if (own.rank() == Rank(1)) times.clear();
      for (const Request request : requests) {
        co_await own.wait(request);
        if (own.rank() == Rank(1)) times.push_back(own.now().value());
      }
    }(comm, arrivals);
  };
  (void)done_with({.eager = Bytes(4000), .buffered = Bytes(4000)}, stream);
  REQUIRE(arrivals.size() == kMessages);
  for (int i = 0; i < kMessages; ++i) {
    CHECK(arrivals[static_cast<std::size_t>(i)] == exactly((i + 1) * 4e-6 + kLatency));
  }
  (void)done_with({.eager = Bytes(4000)}, stream);  // these share it
  CHECK(arrivals.front() == exactly(kMessages * 4e-6 + kLatency));
}

TEST_CASE("Queued messages leave one after the other, longer ones share the port") {
  constexpr int kReceivers = 5;
  const auto done = [](const HostCosts& host) {
    const auto program = [](Communicator& comm) -> Task<void> {
      std::vector<Request> requests;
      for (int to = 1; to <= kReceivers; ++to) {
        requests.push_back(comm.rank() == Rank(0)
                               ? comm.isend(Rank(to), Tag(0), test::empty_message(1000))
                               : comm.irecv(Rank(0), Tag(0)));
        if (comm.rank() != Rank(0)) break;
      }
      for (const Request request : requests) co_await comm.wait(request);
    };
    AlphaBetaNetwork network = wire_with(host);
    return test::finished_of(network.run(kReceivers + 1, program));
  };
  for (const std::int64_t buffered : {0, 4000}) {
    const Doubles queued =
        done({.eager = Bytes(4000), .buffered = Bytes(buffered), .queued = Bytes(4000)});
    const Doubles shared =
        done({.eager = Bytes(4000), .buffered = Bytes(buffered), .queued = Bytes(3999)});
    for (int to = 1; to <= kReceivers; ++to) {
      CHECK(queued[static_cast<std::size_t>(to)] == exactly(to * 4e-6 + kLatency));
      CHECK(shared[static_cast<std::size_t>(to)] == exactly(kReceivers * 4e-6 + kLatency));
    }
    CHECK(queued[0] == exactly(buffered > 0 ? 0 : kReceivers * 4e-6));
  }
}

TEST_CASE("A direct exchange over a 2:1 uplink takes a thirteenth message if ranks queue") {
  // In step d, a rank sends to the rank at distance d. Of six ranks on a switch, d send to the other
  // one, and 12 - d after the sixth step, but the uplink carries three messages in a step. It idles
  // in the first two, in which 3 messages pass, so 36 need 2 + 33 / 3 steps. If ranks share their
  // ports, it never idles: 12 steps.
  constexpr int kRanks = 12;
  const auto steps = [](std::int64_t queued) {
    const auto exchange = [](Communicator& comm) -> Task<void> {
      std::vector<Request> requests;
      for (int d = 1; d < kRanks; ++d) {
        requests.push_back(comm.irecv(Rank((comm.rank().value() + d) % kRanks), Tag(0)));
      }
      for (int d = 1; d < kRanks; ++d) {
        requests.push_back(comm.isend(Rank((comm.rank().value() + d) % kRanks), Tag(0),
                                      test::empty_message(1000)));
      }
      for (const Request request : requests) co_await comm.wait(request);
    };
    const Doubles done = test::times_on_links(
        {.platform = topologies::kPlatforms.file("testbed_two_switches"),
         .ranks = kRanks,
         .settings = {.host = {.eager = Bytes(4000), .queued = Bytes(queued)}}},
        exchange);
    return std::ranges::max(done) / (4000 / 6.25e6);
  };
  CHECK(steps(0) == exactly(12));
  CHECK(steps(4000) == exactly(13));
}

TEST_CASE("Long messages of two ranks to each other take turns, others do not") {
  const auto exchange = [](std::int64_t words, int messages) -> RankProgram {
    return [=](Communicator& comm) -> Task<void> {
      return [](Communicator& own, std::int64_t length, int count) -> Task<void> {
        const Rank peer(1 - own.rank().value());
        std::vector<Request> requests;
        for (int i = 0; i < count; ++i) requests.push_back(own.irecv(peer, Tag(i)));
        for (int i = 0; i < count; ++i) {
          requests.push_back(own.isend(peer, Tag(i), test::empty_message(length)));
        }
        for (const Request request : requests) co_await own.wait(request);
      }(comm, words, messages);
    };
  };
  const HostCosts host{.one_way = Bytes(4000)};
  const auto last = [&](const HostCosts& costs, const RankProgram& program) {
    const Doubles done = done_with(costs, program);
    return std::max(done[0], done[1]);
  };
  const double alone = 4.004e-6;
  CHECK(last(host, exchange(1000, 1)) == exactly(kLatency + 4e-6));
  CHECK(last(host, exchange(1001, 1)) == exactly(kLatency + 2 * alone));
  CHECK(last({.eager = Bytes(5000), .one_way = Bytes(4000)}, exchange(1001, 1)) ==
        exactly(kLatency + alone));
  // Those of one way go together; none is forgotten.
  for (const int messages : {2, 3, 7}) {
    CHECK(last(host, exchange(1001, messages)) == exactly(kLatency + 2 * messages * alone));
  }
  // Around a ring nobody sends back to the one from whom it receives.
  const auto ring = [](Communicator& comm) { return test::ring(comm, 1001, 1); };
  AlphaBetaNetwork network = wire_with(host);
  CHECK(network.run(3, ring).makespan().value() == exactly(kLatency + alone));
}

TEST_CASE("A rank's messages are under way to few others at once") {
  constexpr std::int64_t kWords = 10;
  const double word_times = kPerWord * kWords;
  // Rank 0 sends a message to each of the others, and a second one to the first of them.
  const auto scatter = [](Communicator& comm) -> Task<void> {
    std::vector<Request> requests;
    for (int to = 1; to < comm.size(); ++to) {
      if (comm.rank() == Rank(0)) {
        requests.push_back(comm.isend(Rank(to), Tag(0), test::empty_message(kWords)));
      }
    }
    if (comm.rank() == Rank(0)) {
      requests.push_back(comm.isend(Rank(1), Tag(1), test::empty_message(kWords)));
    } else {
      requests.push_back(comm.irecv(Rank(0), Tag(0)));
    }
    if (comm.rank() == Rank(1)) requests.push_back(comm.irecv(Rank(0), Tag(1)));
    for (const Request request : requests) co_await comm.wait(request);
  };
  const auto last = [&](int ranks, const HostCosts& host) {
    AlphaBetaNetwork network = wire_with(host);
    return network.run(ranks, scatter).makespan().value();
  };
  const Bytes limit(4000);
  for (const int ranks : {2, 3, 7, 12, 23}) {
    CAPTURE(ranks);
    const double all = ranks * word_times + kLatency;
    CHECK(last(ranks, {.eager = limit}) == exactly(all));
    CHECK(last(ranks, {.eager = limit, .destinations = ranks - 1}) == exactly(all));
    CHECK(last(ranks, {.eager = limit, .destinations = 2, .destinations_beyond = ranks}) ==
          exactly(all));
    // With one destination, each message takes a round trip, but nobody waits for the last one's
    // acknowledgement. The second message to rank 1 goes with the first.
    CHECK(last(ranks, {.eager = limit, .destinations = 1, .destinations_beyond = 1}) ==
          exactly(ranks * word_times + (2 * ranks - 3) * kLatency));
    // Only eager messages wait.
    CHECK(last(ranks, {.eager = Bytes(39), .destinations = 1}) == exactly(all));
  }
  // Waves of two: the second of a wave is delivered with the first, since they share the port.
  CHECK(last(7, {.eager = Bytes(4000), .destinations = 2}) ==
        exactly(7 * word_times + 5 * kLatency));
  // An eager send that waits is complete when it has left.
  const auto sent = [&](int destinations) {
    AlphaBetaNetwork network = wire_with({.eager = Bytes(4000), .destinations = destinations});
    return test::finished_of(network.run(3, scatter))[0];
  };
  CHECK(sent(0) == exactly(word_times));
  CHECK(sent(1) == exactly(2 * word_times + 2 * kLatency + word_times));
}

TEST_CASE("A destination is free for others when its message is acknowledged") {
  // Rank 0 sends to one rank after the other, each when the one before has answered or after a
  // pause. Acknowledgements take as long as answers.
  const auto in_turn = [](double pause, bool answered) -> RankProgram {
    return [pause, answered](Communicator& comm) -> Task<void> {
      return [](Communicator& own, double waits, bool replies) -> Task<void> {
        const Rank centre(0);
        for (int other = 1; other < own.size(); ++other) {
          if (own.rank() == centre) {
            co_await own.wait(own.isend(Rank(other), Tag(0), test::empty_message(0)));
            if (replies) co_await own.wait(own.irecv(Rank(other), Tag(1)));
            co_await own.compute(Seconds(waits));
          } else if (own.rank() == Rank(other)) {
            co_await own.wait(own.irecv(centre, Tag(0)));
            if (replies) co_await own.wait(own.isend(centre, Tag(1), test::empty_message(0)));
          }
        }
      }(comm, pause, answered);
    };
  };
  const auto last = [&](const RankProgram& program, int destinations) {
    AlphaBetaNetwork network = wire_with({.eager = Bytes(4000), .destinations = destinations});
    return network.run(7, program).makespan().value();
  };
  const double l = kLatency;
  // Without answers: six messages of a latency, five acknowledgements between them.
  CHECK(last(in_turn(0, false), 0) == exactly(l));
  CHECK(last(in_turn(0, false), 1) == exactly(11 * l));
  CHECK(last(in_turn(0, false), 2) == exactly(5 * l));
  CHECK(last(in_turn(0, false), 6) == exactly(l));
  // A pause that ends between a delivery and its acknowledgement, and one that ends after it. A
  // pause begins when the message has left, and the last one ends after its arrival.
  CHECK(last(in_turn(1.5 * l, false), 1) == exactly(11.5 * l));
  CHECK(last(in_turn(2.5 * l, false), 1) == exactly(6 * 2.5 * l));
  CHECK(last(in_turn(1.5 * l, false), 2) == exactly(6 * 1.5 * l));
  // An answer comes when the acknowledgement does.
  CHECK(last(in_turn(0, true), 1) == exactly(12 * l));
  CHECK(last(in_turn(0, true), 0) == exactly(12 * l));
  // The same while a rank receives, too.
  const auto pairwise = [](Communicator& comm) -> Task<void> {
    for (int step = 1; step < comm.size(); ++step) {
      const Rank to((comm.rank().value() + step) % comm.size());
      const Rank from((comm.rank().value() + comm.size() - step) % comm.size());
      (void)co_await comm.sendrecv(to, test::empty_message(0), from, Tag(0));
    }
  };
  for (const int ranks : {2, 3, 7, 12, 23}) {
    AlphaBetaNetwork network = wire_with({.eager = Bytes(4000), .destinations = 1});
    CHECK(network.run(ranks, pairwise).makespan().value() == exactly((2 * ranks - 3) * l));
  }
}

TEST_CASE("A buffered send is complete at once, though its message waits for a destination") {
  const auto program = [](Communicator& comm) -> Task<void> {
    if (comm.rank() == Rank(0)) {
      for (int to = 1; to < comm.size(); ++to) {
        const std::int64_t words = to == 3 ? 2000 : 0;
        co_await comm.wait(comm.isend(Rank(to), Tag(0), test::empty_message(words)));
      }
    } else {
      co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
    }
  };
  AlphaBetaNetwork network =
      wire_with({.eager = Bytes(4000), .buffered = Bytes(4000), .destinations = 1});
  const Doubles done = test::finished_of(network.run(4, program));
  CHECK(done[1] == exactly(kLatency));
  CHECK(done[2] == exactly(3 * kLatency));
  CHECK(done[3] == exactly(kLatency + 2000 * kPerWord));
}

TEST_CASE("A message that is sent later does not take the destination of one that waits") {
  const auto program = [](Communicator& comm) -> Task<void> {
    const Rank centre(0);
    if (comm.rank() == centre) {
      (void)comm.isend(Rank(1), Tag(0), test::empty_message(0));
      (void)comm.isend(Rank(2), Tag(0), test::empty_message(0));
      co_await comm.wait(comm.irecv(Rank(3), Tag(0)));
      co_await comm.compute(Seconds(100 * kLatency));
      co_await comm.wait(comm.isend(Rank(1), Tag(1), test::empty_message(0)));
    } else if (comm.rank() == Rank(3)) {
      co_await comm.compute(Seconds(0.5 * kLatency));
      co_await comm.wait(comm.isend(centre, Tag(0), test::empty_message(0)));
    } else {
      co_await comm.wait(comm.irecv(centre, Tag(0)));
      if (comm.rank() == Rank(1)) co_await comm.wait(comm.irecv(centre, Tag(1)));
    }
  };
  AlphaBetaNetwork network = wire_with({.eager = Bytes(4000), .destinations = 1});
  const Doubles done = test::finished_of(network.run(4, program));
  CHECK(done[2] == exactly(3 * kLatency));
  CHECK(done[1] == exactly(102.5 * kLatency));
}

TEST_CASE("Messages to one rank keep their order while they wait, and are looked at once") {
  Destinations few(1, 1);
  const Rank own(0);
  CHECK(few.enter(1, own, Rank(1), 0));
  CHECK(few.enter(2, own, Rank(1), 0));  // with the first
  CHECK_FALSE(few.enter(3, own, Rank(2), 0));
  CHECK_FALSE(few.enter(4, own, Rank(3), 0));
  CHECK_FALSE(few.enter(5, own, Rank(2), 0));
  CHECK_FALSE(few.next_admission(own, 0));  // nothing is delivered
  few.deliver(own, Rank(1), 10);
  CHECK_FALSE(few.next_admission(own, 5));  // one is under way
  few.deliver(own, Rank(1), 12);
  CHECK(few.next_admission(own, 6) == 12);
  CHECK_FALSE(few.next_admission(own, 6));  // is awaited already
  CHECK(few.enter(6, own, Rank(1), 11));    // is reached until 12
  CHECK(few.admit(own, 12).empty());
  few.deliver(own, Rank(1), 20);
  CHECK(few.next_admission(own, 21) == 21);
  CHECK(few.admit(own, 20).empty());  // at another time than was said
  const auto third = few.admit(own, 21);
  REQUIRE(third.size() == 1);
  CHECK(third.front().message == 3);
  CHECK(third.front().since == 20);
  CHECK_FALSE(few.enter(7, own, Rank(2), 22));  // the fifth goes before it
  few.deliver(own, Rank(2), 30);
  CHECK(few.next_admission(own, 25) == 30);
  CHECK(few.admit(own, 30).front().message == 4);
  few.deliver(own, Rank(3), 40);
  CHECK(few.next_admission(own, 35) == 40);
  const auto last = few.admit(own, 40);
  REQUIRE(last.size() == 2);
  CHECK(last.front().message == 5);
  CHECK(last.back().message == 7);
  CHECK_FALSE(few.next_admission(own, 40));  // nothing waits
}

TEST_CASE("What a process can move limits its messages together, each way, on links") {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const auto done = [&](double gap, int messages) {
    const auto program = [messages](Communicator& comm) -> Task<void> {
      return [](Communicator& own, int count) -> Task<void> {
        const Rank peer(1 - own.rank().value());
        std::vector<Request> requests;
        for (int i = 0; i < count; ++i) requests.push_back(own.irecv(peer, Tag(i)));
        for (int i = 0; i < count; ++i) {
          requests.push_back(own.isend(peer, Tag(i), test::empty_message(1000)));
        }
        for (const Request request : requests) co_await own.wait(request);
      }(comm, messages);
    };
    return test::times_on_links(
        {.platform = file.path(), .settings = {.host = {.gap_per_word = Seconds(gap)}}},
        program)[0];
  };
  for (const int messages : {1, 2, 5}) {
    const double words = 1000 * messages;
    CHECK(done(6e-9, messages) == exactly(kLatency + 6e-9 * words));
    CHECK(done(3e-9, messages) == exactly(kLatency + kPerWord * words));  // the wire is slower
  }
}

TEST_CASE("Noise delays messages by its mean, as the seed draws it") {
  const auto ring = [](Communicator& comm) { return test::ring(comm, 10, 4000); };
  const auto makespan = [&](double noise, std::uint64_t seed) {
    AlphaBetaNetwork network(alpha_beta(Seconds(1e-6), Seconds(0)),
                             {.noise = Seconds(noise), .seed = seed});
    return network.run(1, ring).makespan().value();
  };
  const double quiet = makespan(0, 1);
  const double noisy = makespan(1e-6, 1);
  // The mean of 4000 exponential delays has a deviation of 1/sqrt(4000) of the mean.
  CHECK((noisy - quiet) / 4000 == test::approx(1e-6).epsilon(4 / std::sqrt(4000.0)));
  CHECK(makespan(1e-6, 1) == noisy);
  CHECK(makespan(1e-6, 2) != noisy);
}

}  // namespace thinwire::networks
