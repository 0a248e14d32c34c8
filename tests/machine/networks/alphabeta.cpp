#include "sim/machine/networks/alphabeta/alphabeta.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/bodies.hpp"

namespace thinwire::networks {

using test::empty_message;

namespace {

constexpr Tag kTag(0);

/// L, o, g and G alone and together.
struct Machine {
  double latency = 0;
  double overhead = 0;
  double gap = 0;
  double gap_per_word = 0;

  [[nodiscard]] LogGP loggp() const {
    return {Seconds(latency), Seconds(overhead), Seconds(gap), Seconds(gap_per_word)};
  }
  /// How long a message keeps a port busy.
  [[nodiscard]] double port(double words) const { return gap + gap_per_word * words; }
  /// From posting to having received, on idle ranks.
  [[nodiscard]] double message(double words) const { return 2 * overhead + latency + port(words); }
};

constexpr std::array kMachines{
    Machine{.latency = 5},
    Machine{.overhead = 3},
    Machine{.gap = 2},
    Machine{.gap_per_word = 0.25},
    Machine{.gap = 2, .gap_per_word = 0.25},
    Machine{.latency = 5, .overhead = 3, .gap = 2, .gap_per_word = 0.25},
    Machine{},
};

RunReport run(const Machine& machine, int ranks, const RankProgram& program) {
  return AlphaBetaNetwork(machine.loggp()).run(ranks, program);
}

double finished(const RunReport& report, int rank) {
  return report.ranks[static_cast<std::size_t>(rank)].finished.value();
}

/// What is measured lies in here, since no test macro may stand in a coroutine.
struct Times {
  double send_done = -1;
  double all_done = -1;
  std::vector<double> received;
};

Task<void> ping_pong(Communicator& comm, int rounds, std::int64_t words) {
  const Rank peer(1 - comm.rank().value());
  for (int round = 0; round < rounds; ++round) {
    if (comm.rank().value() == round % 2) {
      co_await comm.wait(comm.isend(peer, kTag, empty_message(words)));
    } else {
      co_await comm.wait(comm.irecv(peer, kTag));
    }
  }
}

Task<void> fan_out(Communicator& comm, std::int64_t words, std::vector<Times>& times) {
  Times& mine = times[static_cast<std::size_t>(comm.rank().value())];
  if (comm.rank() == Rank(0)) {
    std::vector<Request> sends;
    for (int to = 1; to < comm.size(); ++to) {
      sends.push_back(comm.isend(Rank(to), kTag, empty_message(words)));
    }
    co_await comm.wait_all(sends);
    mine.send_done = comm.now().value();
    co_return;
  }
  co_await comm.wait(comm.irecv(Rank(0), kTag));
  mine.received.push_back(comm.now().value());
}

Task<void> fan_in(Communicator& comm, std::int64_t words, bool together,
                  std::vector<Times>& times) {
  Times& mine = times[static_cast<std::size_t>(comm.rank().value())];
  if (comm.rank() != Rank(0)) {
    co_await comm.wait(comm.isend(Rank(0), kTag, empty_message(words)));
    mine.send_done = comm.now().value();
    co_return;
  }
  std::vector<Request> receives;
  for (int from = 1; from < comm.size(); ++from) receives.push_back(comm.irecv(Rank(from), kTag));
  if (together) {
    co_await comm.wait_all(receives);
  } else {
    for (const Request receive : receives) {
      co_await comm.wait(receive);
      mine.received.push_back(comm.now().value());
    }
  }
  mine.all_done = comm.now().value();
}

Task<void> ring(Communicator& comm, int steps, std::int64_t words) {
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % comm.size());
  const Rank previous((rank + comm.size() - 1) % comm.size());
  for (int step = 0; step < steps; ++step) {
    co_await comm.sendrecv(next, empty_message(words), previous, kTag);
  }
}

Task<void> both_ways(Communicator& comm, int rounds, std::int64_t words) {
  const Rank peer(1 - comm.rank().value());
  for (int round = 0; round < rounds; ++round) {
    co_await comm.sendrecv(peer, empty_message(words), peer, kTag);
  }
}

Task<void> compute_while_receiving(Communicator& comm, double seconds, std::int64_t words,
                                   std::vector<Times>& times) {
  if (comm.rank() == Rank(0)) {
    const Request send = comm.isend(Rank(1), kTag, empty_message(words));
    co_await comm.compute(Seconds(seconds));
    co_await comm.wait(send);
  } else {
    const Request receive = comm.irecv(Rank(0), kTag);
    co_await comm.compute(Seconds(seconds));
    co_await comm.wait(receive);
  }
  times[static_cast<std::size_t>(comm.rank().value())].all_done = comm.now().value();
}

Task<void> two_pairs_and_tags(Communicator& comm, std::vector<int>& received,
                              test::BodyCount& count) {
  if (comm.rank() == Rank(0)) {
    std::vector<Request> sends;
    for (int i = 0; i < 4; ++i) {
      sends.push_back(
          comm.isend(Rank(1), Tag(i % 2), test::counted_message(count, Words(10 - i), i)));
    }
    co_await comm.wait_all(sends);
  } else {
    const std::array receives{comm.irecv(Rank(0), Tag(1)), comm.irecv(Rank(0), Tag(0)),
                              comm.irecv(Rank(0), Tag(0)), comm.irecv(Rank(0), Tag(1))};
    const std::vector<Message> messages = co_await comm.wait_all(receives);
    for (const Message& message : messages) received.push_back(test::number_of(message));
  }
}

Task<void> phases(Communicator& comm) {
  const Rank peer(1 - comm.rank().value());
  co_await comm.compute(Seconds(1));
  const auto outer = comm.phase("outer");
  co_await comm.compute(Seconds(2));
  {
    const auto inner = comm.phase("inner");
    co_await comm.sendrecv(peer, empty_message(8), peer, kTag);
  }
  co_await comm.compute(Seconds(4));
}

Task<void> staggered(Communicator& comm, std::vector<double>& order) {
  // Ranks 3, 1 and 2, in this order, are ready to send to 0, which receives in the order of ranks.
  if (comm.rank() == Rank(0)) {
    for (const int from : {1, 2, 3}) {
      co_await comm.wait(comm.irecv(Rank(from), kTag));
      order.push_back(comm.now().value());
    }
    co_return;
  }
  constexpr std::array kStarts{0.0, 2.0, 3.0, 1.0};
  co_await comm.compute(Seconds(kStarts[static_cast<std::size_t>(comm.rank().value())]));
  co_await comm.wait(comm.isend(Rank(0), kTag, empty_message(10)));
}

/// Rank 0 sends 100 words to rank 1, whose receive comes late, and 50 to rank 2.
Task<void> late_receiver(Communicator& comm, Times& to_late, Times& to_early) {
  if (comm.rank() == Rank(0)) {
    const Request late = comm.isend(Rank(1), kTag, empty_message(100));
    co_await comm.wait(comm.isend(Rank(2), kTag, empty_message(50)));
    co_await comm.wait(late);
    to_late.send_done = comm.now().value();
    co_return;
  }
  if (comm.rank() == Rank(1)) co_await comm.compute(Seconds(1000));
  co_await comm.wait(comm.irecv(Rank(0), kTag));
  (comm.rank() == Rank(1) ? to_late : to_early).all_done = comm.now().value();
}

Task<void> nothing(Communicator& comm) {
  static_cast<void>(comm.rank());
  co_return;
}

}  // namespace

TEST_CASE("A ping-pong takes two overheads and a latency and a port a message") {
  constexpr int kRounds = 10;
  for (const Machine& machine : kMachines) {
    for (const std::int64_t words : {0, 1, 100}) {
      const RunReport report =
          run(machine, 2, [&](Communicator& comm) { return ping_pong(comm, kRounds, words); });
      CHECK(report.makespan().value() ==
            test::approx(kRounds * machine.message(static_cast<double>(words))).epsilon(1e-12));
    }
  }
}

TEST_CASE("Messages from one rank share its port and cost it their sum") {
  constexpr std::int64_t kWords = 8;
  for (const Machine& machine : kMachines) {
    for (const int ranks : {2, 3, 7, 16}) {
      std::vector<Times> times(static_cast<std::size_t>(ranks));
      const RunReport report =
          run(machine, ranks, [&](Communicator& comm) { return fan_out(comm, kWords, times); });
      // The processor posts a message every o; the port is never idle from the first one on.
      const double port = machine.port(kWords);
      const double begun = machine.overhead + machine.latency;
      const double last = std::max(begun + (ranks - 1) * port,
                                   (ranks - 1) * machine.overhead + machine.latency + port);
      CHECK(times[0].send_done == test::approx(last).epsilon(1e-12));
      double latest = 0;
      for (int i = 1; i < ranks; ++i) {
        latest = std::max(latest, times[static_cast<std::size_t>(i)].received.front());
      }
      CHECK(latest == test::approx(last + machine.overhead).epsilon(1e-12));
      if (machine.overhead == 0) {  // posted together, they end together
        CHECK(times[1].received.front() == test::approx(last).epsilon(1e-12));
      }
      CHECK(report.ranks[0].total().messages_sent == ranks - 1);
      CHECK(report.ranks[0].total().words_sent == Words((ranks - 1) * kWords));
    }
  }
}

TEST_CASE("Messages into one rank share its port, and their senders wait for it") {
  constexpr std::int64_t kWords = 8;
  for (const Machine& machine : kMachines) {
    for (const int ranks : {2, 3, 7, 16}) {
      const double delivered =
          machine.overhead + machine.latency + (ranks - 1) * machine.port(kWords);
      std::vector<Times> times(static_cast<std::size_t>(ranks));
      run(machine, ranks, [&](Communicator& comm) { return fan_in(comm, kWords, true, times); });
      CHECK(times[0].all_done ==
            test::approx(delivered + (ranks - 1) * machine.overhead).epsilon(1e-12));
      for (int i = 1; i < ranks; ++i) {
        CHECK(times[static_cast<std::size_t>(i)].send_done ==
              test::approx(delivered).epsilon(1e-12));
      }
      // One after another: the receiver works off each overhead in turn.
      run(machine, ranks, [&](Communicator& comm) { return fan_in(comm, kWords, false, times); });
      bool right = true;
      for (int i = 1; i < ranks; ++i) {
        const double wanted = delivered + i * machine.overhead;
        const double seen = times[0].received[static_cast<std::size_t>(i - 1)];
        right = right && std::abs(seen - wanted) <= 1e-12 * wanted;
      }
      CHECK(right);
    }
  }
}

TEST_CASE("A message begins when its receive is posted, and leaves the ports to others till then") {
  // Rank 0 sends to 1, which is busy until 1000, and then to 2, which is ready.
  Times to_early;
  Times to_late;
  const auto program = [&](Communicator& comm) -> Task<void> {
    return late_receiver(comm, to_late, to_early);
  };
  run({.gap_per_word = 1}, 3, program);
  CHECK(to_early.all_done == 50);
  CHECK(to_late.all_done == 1100);
  CHECK(to_late.send_done == 1100);

  AlphaBetaNetwork eager({Seconds(0), Seconds(0), Seconds(0), Seconds(1)}, {.eager = Bytes(400)});
  static_cast<void>(eager.run(3, program));
  CHECK(to_early.all_done == 100);  // the port is shared with what rank 1 does not want yet
  CHECK(to_late.all_done == 1000);
  CHECK(to_late.send_done == 100);

  AlphaBetaNetwork short_only({Seconds(0), Seconds(0), Seconds(0), Seconds(1)},
                              {.eager = Bytes(399)});
  static_cast<void>(short_only.run(3, program));
  CHECK(to_late.all_done == 1100);
}

TEST_CASE("An eager message of no words is neither buffered nor queued if others are not") {
  AlphaBetaNetwork network({Seconds(0), Seconds(0), Seconds(5), Seconds(1)}, {.eager = Bytes(4)});
  double sent = 0;
  static_cast<void>(network.run(2, [&](Communicator& comm) -> Task<void> {
    if (comm.rank() == Rank(0)) {
      co_await comm.wait(comm.isend(Rank(1), kTag, empty_message(0)));
      sent = comm.now().value();
    } else {
      co_await comm.wait(comm.irecv(Rank(0), kTag));
    }
  }));
  CHECK(sent == 5);
}

TEST_CASE("A ring in lockstep takes as long for any number of ranks") {
  constexpr int kSteps = 20;
  for (const Machine& machine : kMachines) {
    for (const int ranks : {1, 2, 3, 8, 17}) {
      const RunReport report =
          run(machine, ranks, [&](Communicator& comm) { return ring(comm, kSteps, 40); });
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(finished(report, rank) == test::approx(kSteps * machine.message(40)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("A rank may send to itself through both of its ports") {
  for (const Machine& machine : kMachines) {
    const RunReport report = run(machine, 1, [&](Communicator& comm) { return ring(comm, 3, 12); });
    CHECK(report.makespan().value() == test::approx(3 * machine.message(12)).epsilon(1e-12));
    const Traffic total = report.ranks[0].total();
    CHECK(total.messages_sent == 3);
    CHECK(total.messages_received == 3);
    CHECK(total.words_received == Words(36));
  }
}

TEST_CASE("Sending and receiving go on at the same time") {
  for (const Machine& machine : kMachines) {
    const RunReport report =
        run(machine, 2, [&](Communicator& comm) { return both_ways(comm, 5, 100); });
    CHECK(report.makespan().value() == test::approx(5 * machine.message(100)).epsilon(1e-12));
  }
}

TEST_CASE("Computing overlaps communication that is under way") {
  constexpr std::int64_t kWords = 100;
  for (const Machine& machine : kMachines) {
    for (const double seconds : {0.0, 1.0, 10.0, 1000.0}) {
      std::vector<Times> times(2);
      run(machine, 2, [&](Communicator& comm) {
        return compute_while_receiving(comm, seconds, kWords, times);
      });
      const double port = machine.port(kWords);
      CHECK(times[0].all_done ==
            std::max(machine.overhead + seconds, machine.overhead + machine.latency + port));
      CHECK(times[1].all_done ==
            std::max(seconds, machine.overhead + machine.latency + port) + machine.overhead);
    }
  }
}

TEST_CASE("A rank that receives in turn is served in turn, whoever was ready first") {
  // Each message needs 20 s of the port, and waits for its receive.
  std::vector<double> order;
  run({.gap_per_word = 2}, 4, [&](Communicator& comm) { return staggered(comm, order); });
  CHECK(order == std::vector{22.0, 42.0, 62.0});
}

TEST_CASE("Messages of one pair and tag keep their order and tags do not mix") {
  test::BodyCount count;
  std::vector<int> received;
  run({.gap = 1, .gap_per_word = 1}, 2,
      [&](Communicator& comm) { return two_pairs_and_tags(comm, received, count); });
  CHECK(received == std::vector{1, 0, 2, 3});
  CHECK(count.living == 0);
}

TEST_CASE("Time and traffic are booked to the phase in which they occur") {
  const RunReport report = run({.gap = 2, .gap_per_word = 0.25}, 2, phases);
  REQUIRE(report.phases == std::vector<std::string>{"other", "outer", "inner"});
  for (const RankReport& rank : report.ranks) {
    REQUIRE(rank.by_phase.size() == 3);
    CHECK(rank.by_phase[0].time == Seconds(1));
    CHECK(rank.by_phase[1].time == Seconds(6));
    CHECK(rank.by_phase[2].time == Seconds(4));
    CHECK(rank.by_phase[2].messages_sent == 1);
    CHECK(rank.by_phase[2].messages_received == 1);
    CHECK(rank.by_phase[2].words_received == Words(8));
    CHECK(rank.by_phase[1].messages_sent == 0);
    CHECK(rank.total().time == Seconds(11));
    CHECK(rank.finished == Seconds(11));
  }
}

TEST_CASE("Programs that do nothing end at time zero") {
  const RunReport report = run({.gap = 1}, 5, nothing);
  CHECK(report.ranks.size() == 5);
  CHECK(report.makespan() == Seconds(0));
  CHECK(report.phases == std::vector<std::string>{"other"});
}

TEST_CASE("A network runs again and again and always gives the same") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1.3e-6), Seconds(0.7e-9)));
  const auto once = [&] {
    std::vector<Times> times(17);
    return network.run(17, [&](Communicator& comm) { return fan_in(comm, 1234, false, times); });
  };
  const RunReport first = once();
  for (int again = 0; again < 3; ++again) {
    const RunReport report = once();
    bool same = report.phases == first.phases;
    for (std::size_t rank = 0; rank < first.ranks.size(); ++rank) {
      same = same && report.ranks[rank].finished == first.ranks[rank].finished;
      same = same && report.ranks[rank].total().time == first.ranks[rank].total().time;
    }
    CHECK(same);
  }
}

}  // namespace thinwire::networks
