// Programs that ranks start beside their own, on SMPI.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/smpi.hpp"
#include "tests/support/started.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::contains;
using test::error_of;
using test::exactly;
using test::Failing;
using test::on_smpi;
using test::Overlap;
using test::Overlapped;
using test::PlatformFile;

namespace {

/// Of platforms/alphabeta.xml.
AlphaBetaNetwork same_machine() {
  return AlphaBetaNetwork(alpha_beta(Seconds(2e-6), Seconds(4e-10)));
}

double plain_smpi_time(const Overlap& given) {
  AlphaBetaNetwork network = same_machine();
  return Overlapped(given).run_plainly(network).makespan().value();
}

/// Whether the sums are right, the makespan, and when what was started ended on rank 0.
test::Doubles overlapped_on(const std::string& platform, const Overlap& given) {
  return on_smpi({.platform = platform, .ranks = given.ranks}, [&](SmpiNetwork& network) {
    Overlapped overlapped(given);
    const RunReport report = overlapped.run(network);
    test::Doubles numbers{overlapped.right() ? 1.0 : 0.0, report.makespan().value()};
    const std::vector<double>& ended = overlapped.seen()[0].ended;
    numbers.insert(numbers.end(), ended.begin(), ended.end());
    return numbers;
  });
}

template <class Error>
std::string failure(int ranks, const RankProgram& program) {
  const PlatformFile file(test::star_xml(4));
  return error_of<Error>(
      [&] { (void)test::times_on_smpi({.platform = file.path(), .ranks = ranks}, program); });
}

}  // namespace

TEST_CASE(
    "On SMPI a started collective gives its sum and takes the time of the alpha-beta machine") {
  const std::string platform = topologies::kPlatforms.file("alphabeta");
  for (const int ranks : {1, 2, 4, 8, 16, 64}) {
    if (test::kSanitized && ranks > 8) continue;  // two threads a rank
    Overlap given{.ranks = ranks, .words = 64'000};
    const double alone = plain_smpi_time(given);
    for (const double share : {0.0, 0.5, 1.5}) {
      CAPTURE(ranks);
      CAPTURE(share);
      given.compute = share * alone;
      const test::Doubles seen = overlapped_on(platform, given);
      CHECK(seen[0] == 1);
      CHECK(seen[1] == exactly(std::max(given.compute, alone)));
      CHECK(seen[2] == exactly(alone));
      AlphaBetaNetwork network = same_machine();
      CHECK(seen[1] == exactly(Overlapped(given).run(network).makespan().value()));
    }
  }
}

TEST_CASE("On SMPI started collectives follow one another, and are right where ranks fold in") {
  const std::string platform = topologies::kPlatforms.file("alphabeta");
  for (const int ranks : {2, 3, 8, 17}) {
    if (test::kSanitized && ranks > 8) continue;
    CAPTURE(ranks);
    const Overlap given{.ranks = ranks, .words = 6400, .started = 4};
    const test::Doubles seen = overlapped_on(platform, given);
    REQUIRE(seen.size() == 6);
    CHECK(seen[0] == 1);
    CHECK(std::is_sorted(seen.begin() + 2, seen.end()));
    if ((ranks & (ranks - 1)) == 0) CHECK(seen[1] == exactly(plain_smpi_time(given)));
    CHECK(overlapped_on(platform, given) == seen);  // to the last digit
  }
}

TEST_CASE("On SMPI the messages of both strands share the rank's port") {
  // Two ranks: 2 messages of 320,000 words of the allreduce, and one of 160,000 beside the first.
  const Overlap given{.ranks = 2, .words = 640'000, .message = 160'000};
  const test::Doubles seen = overlapped_on(topologies::kPlatforms.file("alphabeta"), given);
  CHECK(seen[0] == 1);
  const double all = 3 * 2e-6 + 800'000 * 4e-10;  // the port is never idle
  CHECK(seen[1] == exactly(all));
}

TEST_CASE("On SMPI what nobody waits for comes to its end all the same") {
  const Overlap given{.ranks = 4, .words = 6400, .started = 3, .waits = false};
  const test::Doubles seen = overlapped_on(topologies::kPlatforms.file("alphabeta"), given);
  CHECK(seen[1] == exactly(plain_smpi_time(given)));
  CHECK(seen.size() == 5);
}

TEST_CASE("On SMPI runs that start something follow one another in one simulation") {
  const Overlap given{.ranks = 4, .words = 6400, .started = 2, .compute = 1e-6};
  const test::Doubles times =
      on_smpi({.platform = topologies::kPlatforms.file("alphabeta"), .ranks = 4},
              [&](SmpiNetwork& network) {
                test::Doubles makespans;
                for (int i = 0; i < 5; ++i) {
                  Overlapped overlapped(given);
                  makespans.push_back(overlapped.run(network).makespan().value());
                  makespans.push_back(Overlapped(given).run_plainly(network).makespan().value());
                  if (!overlapped.right()) makespans.push_back(-1);
                }
                return makespans;
              });
  REQUIRE(times.size() == 10);
  for (const double time : times) CHECK(time == exactly(plain_smpi_time(given)));
}

TEST_CASE("On SMPI messages of started programs match messages of others' started programs") {
  const PlatformFile file(test::star_xml(2));
  const test::Doubles numbers = on_smpi({.platform = file.path()}, [](SmpiNetwork& network) {
    std::vector<test::Exchanged> got(2);
    network.run(2, [&](Communicator& comm) {
      return test::exchange_on_both(comm, got[static_cast<std::size_t>(comm.rank().value())]);
    });
    test::Doubles all;
    for (const test::Exchanged& one : got) {
      all.insert(all.end(), one.main.begin(), one.main.end());
      all.insert(all.end(), one.second.begin(), one.second.end());
    }
    return all;
  });
  CHECK(numbers == test::Doubles{0, 1, 2, 100, 101, 102, 0, 1, 2, 100, 101, 102});
}

TEST_CASE("On SMPI both strands of a rank are booked") {
  const double alone = plain_smpi_time({.ranks = 4, .words = 6400});
  const test::Doubles numbers = on_smpi(
      {.platform = topologies::kPlatforms.file("alphabeta"), .ranks = 4},
      [&](SmpiNetwork& network) {
        Overlapped overlapped({.ranks = 4, .words = 6400, .compute = 0.75 * alone});
        const RunReport report = overlapped.run(network);
        test::Doubles all;
        for (const char* phase : {"compute", "allreduce", "other"}) {
          const auto at =
              std::ranges::find(report.phases, std::string(phase)) - report.phases.begin();
          all.push_back(report.ranks[2].by_phase[static_cast<std::size_t>(at)].time.value());
        }
        const Traffic total = report.ranks[2].total();
        all.push_back(static_cast<double>(total.messages_received));
        all.push_back(static_cast<double>(total.words_sent.value()));
        return all;
      });
  CHECK(numbers[0] == exactly(0.75 * alone));
  CHECK(numbers[1] == exactly(alone));
  CHECK(numbers[2] == exactly(0.25 * alone));
  CHECK(numbers[3] == 4);
  CHECK(numbers[4] == 2 * 4800);
}

TEST_CASE("On SMPI what a started program throws comes to who waits for it, or fails the run") {
  const char* text = "no more of this";
  int caught = 0;
  // It comes out of the child as a SimulationError.
  for (const bool waits : {true, false}) {
    for (const bool needed : {true, false}) {
      CAPTURE(waits);
      CAPTURE(needed);
      CHECK(failure<SimulationError>(3, [&](Communicator& comm) {
              const Failing given{.waits = waits, .others_need_it = needed};
              return test::starts_failing(comm, given, text, caught);
            }) == text);
    }
  }
  CHECK(failure<SimulationError>(3, [&](Communicator& comm) {
          return test::starts_failing(comm, {.catches = true}, text, caught);
        }) == "(nothing was thrown)");
}

TEST_CASE("On SMPI a deadlock of what was started names the strands that wait") {
  CHECK(failure<DeadlockError>(
            2, [](Communicator& comm) { return test::starts_deadlock(comm, true); }) ==
        "deadlock: 2 of 2 ranks wait and nothing is in flight: rank 0 waits for what it started; "
        "what was started on rank 0 waits for rank 1 (tag 5); rank 1 waits for what it started; "
        "what was started on rank 1 waits for rank 0 (tag 5);");
  const std::string alone = failure<DeadlockError>(
      3, [](Communicator& comm) { return test::starts_deadlock(comm, false); });
  CHECK(contains(alone, "3 of 3 ranks wait"));
  CHECK_FALSE(contains(alone, "waits for what it started"));
}

TEST_CASE("On SMPI what was started cannot start anything, and must be received") {
  CHECK(contains(failure<SimulationError>(2, test::starts_what_starts),
                 "starts another one: only the rank's own program may start programs"));
  CHECK(failure<UnmatchedError>(2, test::starts_unreceived) ==
        "what was started on rank 0 sent 7 words to rank 1 (tag 4) and nobody received them");
}

}  // namespace thinwire::networks
