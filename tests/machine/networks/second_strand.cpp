// Programs that ranks start beside their own, on the networks with an event loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/started.hpp"

namespace thinwire::networks {

using test::contains;
using test::error_of;
using test::exactly;
using test::Failing;
using test::Overlap;
using test::Overlapped;

namespace {

void with_second_strand_on_each(const std::function<void(Network&)>& check) {
  test::Networks networks;
  check(networks.alphabeta);
  check(networks.counting);
  AlphaBetaNetwork loggp({Seconds(3e-6), Seconds(1e-6), Seconds(2e-6), Seconds(1e-9)});
  check(loggp);
}

double plain_time(const Overlap& given) {
  test::Networks networks;
  return Overlapped(given).run_plainly(networks.alphabeta).makespan().value();
}

template <class Error>
std::string failure(Network& network, const RankProgram& program, int ranks = 3) {
  return error_of<Error>([&] { static_cast<void>(network.run(ranks, program)); });
}

const Traffic& traffic_in(const RunReport& report, std::size_t rank, const std::string& phase) {
  const auto at = std::ranges::find(report.phases, phase) - report.phases.begin();
  return report.ranks[rank].by_phase[static_cast<std::size_t>(at)];
}

}  // namespace

TEST_CASE("What is started gives its result to who waits for it, on every network and at any P") {
  with_second_strand_on_each([](Network& network) {
    for (const int ranks : test::kRankCounts) {
      for (const int started : {1, 3}) {
        for (const std::int64_t message : {0, 500}) {
          CAPTURE(ranks);
          CAPTURE(started);
          Overlapped overlapped({.ranks = ranks,
                                 .words = 100,
                                 .started = started,
                                 .compute = 1e-6,
                                 .message = message});
          static_cast<void>(overlapped.run(network));
          CHECK(overlapped.right());
        }
      }
    }
  });
}

TEST_CASE("A started collective takes the time of a plain one, and hides behind computing") {
  for (const int ranks : test::kRankCounts) {
    Overlap given{.ranks = ranks, .words = 6400};
    const double alone = plain_time(given);
    for (const double share : {0.0, 0.5, 1.0, 1.5}) {
      CAPTURE(ranks);
      CAPTURE(share);
      test::Networks networks;
      given.compute = share * alone;
      Overlapped overlapped(given);
      const RunReport report = overlapped.run(networks.alphabeta);
      CHECK(report.makespan().value() == std::max(given.compute, alone));
      if (ranks > 1) CHECK(overlapped.seen()[0].ended[0] > 0);
    }
  }
}

TEST_CASE("Of what a rank starts one after another each begins at the end of the one before") {
  for (const int ranks : {1, 2, 4, 8, 64}) {
    CAPTURE(ranks);
    const Overlap given{.ranks = ranks, .words = 6400, .started = 5};
    test::Networks networks;
    Overlapped overlapped(given);
    const RunReport report = overlapped.run(networks.alphabeta);
    CHECK(report.makespan().value() == plain_time(given));
    const double one = plain_time({.ranks = ranks, .words = 6400});
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(overlapped.seen()[0].ended[i] == exactly(static_cast<double>(i + 1) * one));
    }
    CHECK(Overlapped(given).run(networks.counting).steps() ==
          Overlapped(given).run_plainly(networks.counting).steps());
  }
}

TEST_CASE("The strands of a rank share its ports") {
  // Of two ranks. The allreduce of 6400 words is two messages of 3200, one after another. The own
  // message is posted while the first one of the allreduce is on its way.
  const auto port = [](double words) { return test::formula(1, words); };
  const double first = port(3200);
  for (const double compute : {0.5 * first, 0.0}) {
    CAPTURE(compute);
    test::Networks networks;
    Overlapped overlapped({.ranks = 2, .words = 6400, .compute = compute, .message = 1000});
    const RunReport report = overlapped.run(networks.alphabeta);
    for (const test::Seen& seen : overlapped.seen()) {
      CHECK(seen.sent == exactly(compute + 2 * port(1000)));
      CHECK(seen.ended[0] == exactly(2 * first + port(1000)));  // the port is never idle
      CHECK(seen.waited == seen.ended[0]);
    }
    CHECK(report.makespan().value() == exactly(2 * first + port(1000)));
  }
}

TEST_CASE("An own message that is posted after all of the collective waits for nothing") {
  const double alone = plain_time({.ranks = 4, .words = 6400});
  test::Networks networks;
  Overlapped overlapped({.ranks = 4, .words = 6400, .compute = 2 * alone, .message = 1000});
  static_cast<void>(overlapped.run(networks.alphabeta));
  CHECK(overlapped.seen()[2].ended[0] == exactly(alone));
  CHECK(overlapped.seen()[2].sent == exactly(2 * alone + test::formula(1, 1000)));
}

TEST_CASE("What nobody waits for comes to its end all the same, and the run ends with it") {
  const Overlap given{.ranks = 8, .words = 6400, .started = 3, .waits = false};
  with_second_strand_on_each([&](Network& network) {
    Overlapped overlapped(given);
    const RunReport report = overlapped.run(network);
    const double end = overlapped.seen()[0].ended[2];
    CHECK(overlapped.seen()[0].waited == -1);
    CHECK(
        std::ranges::all_of(overlapped.seen(), [](const auto& s) { return s.ended.size() == 3; }));
    CHECK(report.ranks[0].finished.value() == end);
    CHECK(report.ranks[0].total().words_received == Words(33'600));
  });
  test::Networks networks;
  CHECK(Overlapped(given).run(networks.alphabeta).makespan().value() == plain_time(given));
}

TEST_CASE(
    "Messages of started programs match messages of others' started programs, and no others") {
  with_second_strand_on_each([](Network& network) {
    std::vector<test::Exchanged> got(2);
    network.run(2, [&](Communicator& comm) {
      return test::exchange_on_both(comm, got[static_cast<std::size_t>(comm.rank().value())]);
    });
    for (const test::Exchanged& one : got) {
      CHECK(one.main == std::vector<std::int64_t>{0, 1, 2});
      CHECK(one.second == std::vector<std::int64_t>{100, 101, 102});
    }
  });
}

TEST_CASE("Both strands of a rank are booked, each phase for the time that it was active") {
  test::Networks networks;
  const double alone = plain_time({.ranks = 4, .words = 6400});
  Overlapped overlapped({.ranks = 4, .words = 6400, .compute = 0.75 * alone});
  const RunReport report = overlapped.run(networks.alphabeta);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(traffic_in(report, rank, "compute").time.value() == exactly(0.75 * alone));
    CHECK(traffic_in(report, rank, "allreduce").time.value() == exactly(alone));
    CHECK(traffic_in(report, rank, "other").time.value() == exactly(0.25 * alone));
    CHECK(traffic_in(report, rank, "allreduce").words_sent == Words(9600));
    CHECK(report.ranks[rank].total().messages_sent == 4);
    CHECK(report.ranks[rank].total().messages_received == 4);
    // What overlaps counts twice.
    CHECK(report.ranks[rank].total().time.value() == exactly(2 * alone));
  }
}

TEST_CASE("What a started program throws comes to who waits for it") {
  with_second_strand_on_each([](Network& network) {
    const char* text = "no more of this";
    int caught = 0;
    for (const bool needed : {false, true}) {
      CHECK(failure<std::range_error>(network, [&](Communicator& comm) {
              return test::starts_failing(comm, {.others_need_it = needed}, text, caught);
            }) == text);
    }
    network.run(3, [&](Communicator& comm) {
      return test::starts_failing(comm, {.catches = true}, text, caught);
    });
    CHECK(caught == 1);
  });
}

TEST_CASE("What a started program throws fails the run where nobody waits for it") {
  with_second_strand_on_each([](Network& network) {
    const char* text = "nobody listens";
    int caught = 0;
    for (const bool needed : {false, true}) {
      CHECK(failure<std::range_error>(network, [&](Communicator& comm) {
              const Failing given{.waits = false, .others_need_it = needed};
              return test::starts_failing(comm, given, text, caught);
            }) == text);
    }
    CHECK(caught == 0);
  });
}

TEST_CASE("A deadlock of what was started names the strands that wait") {
  with_second_strand_on_each([](Network& network) {
    const std::string waited = failure<DeadlockError>(
        network, [](Communicator& comm) { return test::starts_deadlock(comm, true); }, 2);
    CHECK(waited ==
          "deadlock: 2 of 2 ranks wait and nothing is in flight: rank 0 waits for what it started; "
          "what was started on rank 0 waits for rank 1 (tag 5); rank 1 waits for what it started; "
          "what was started on rank 1 waits for rank 0 (tag 5);");
    const std::string alone = failure<DeadlockError>(
        network, [](Communicator& comm) { return test::starts_deadlock(comm, false); });
    CHECK(contains(alone, "3 of 3 ranks wait"));
    CHECK(contains(alone, "what was started on rank 2 waits for rank 0 (tag 5)"));
    CHECK_FALSE(contains(alone, "waits for what it started"));
  });
}

TEST_CASE("What was started cannot start anything") {
  with_second_strand_on_each([](Network& network) {
    const std::string text = failure<SimulationError>(network, test::starts_what_starts);
    CHECK(text ==
          "a started program on rank 0 starts another one: only the rank's own program may start "
          "programs");
  });
}

TEST_CASE("What a started program sent and nobody received is told") {
  with_second_strand_on_each([](Network& network) {
    CHECK(failure<UnmatchedError>(network, test::starts_unreceived, 2) ==
          "what was started on rank 0 sent 7 words to rank 1 (tag 4) and nobody received them");
  });
}

TEST_CASE("Runs in which ranks start something are the same every time") {
  const Overlap given{.ranks = 17, .words = 1234, .started = 4, .compute = 3e-6, .message = 777};
  test::Networks networks;
  const auto once = [&] {
    const RunReport report = Overlapped(given).run(networks.alphabeta);
    std::vector<double> numbers;
    for (const RankReport& rank : report.ranks) {
      numbers.push_back(rank.finished.value());
      numbers.push_back(rank.total().time.value());
    }
    return numbers;
  };
  const std::vector<double> first = once();
  CHECK(once() == first);
  CHECK(once() == first);
}

}  // namespace thinwire::networks
