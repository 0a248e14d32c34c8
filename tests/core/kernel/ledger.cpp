#include "sim/core/kernel/ledger.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/core/kernel/network.hpp"

namespace thinwire::inline kernel {

TEST_CASE("What lies outside any phase is booked as other") {
  PhaseNames names;
  Ledger ledger(names);
  ledger.sent(Words(5));
  ledger.received(Words(7));
  ledger.close(Seconds(2));
  REQUIRE(ledger.by_phase().size() == 1);
  CHECK(names.all().front() == "other");
  const Traffic& other = ledger.by_phase()[0];
  CHECK(other.messages_sent == 1);
  CHECK(other.messages_received == 1);
  CHECK(other.words_sent == Words(5));
  CHECK(other.words_received == Words(7));
  CHECK(other.time == Seconds(2));
}

TEST_CASE("Phases nest and traffic and time go to the innermost one") {
  PhaseNames names;
  Ledger ledger(names);
  ledger.enter("outer", Seconds(1));  // other: 0 to 1
  ledger.sent(Words(10));
  ledger.enter("inner", Seconds(3));  // outer: 1 to 3
  ledger.sent(Words(100));
  ledger.received(Words(1000));
  ledger.leave(Seconds(7));  // inner: 3 to 7
  ledger.sent(Words(20));
  ledger.enter("inner", Seconds(8));  // outer: 7 to 8
  ledger.leave(Seconds(16));          // inner: 8 to 16
  ledger.leave(Seconds(32));          // outer: 16 to 32
  ledger.close(Seconds(64));          // other: 32 to 64

  const std::size_t outer = names.index_of("outer");
  const std::size_t inner = names.index_of("inner");
  const auto& phases = ledger.by_phase();
  REQUIRE(phases.size() == 3);
  CHECK(phases[0].time == Seconds(33));
  CHECK(phases[outer].time == Seconds(19));
  CHECK(phases[inner].time == Seconds(12));
  CHECK(phases[0].messages_sent == 0);
  CHECK(phases[outer].messages_sent == 2);
  CHECK(phases[outer].words_sent == Words(30));
  CHECK(phases[outer].messages_received == 0);
  CHECK(phases[inner].words_sent == Words(100));
  CHECK(phases[inner].words_received == Words(1000));

  const Traffic total = ledger.total();
  CHECK(total.time == Seconds(64));
  CHECK(total.messages_sent == 3);
  CHECK(total.words_sent == Words(130));
  CHECK(total.words_received == Words(1000));
}

TEST_CASE("Ranks share the names of phases whatever the order in which they enter them") {
  PhaseNames names;
  Ledger first(names);
  Ledger second(names);
  first.enter("a", Seconds(0));
  first.leave(Seconds(1));
  second.enter("b", Seconds(0));
  second.leave(Seconds(2));
  second.enter("a", Seconds(2));
  second.leave(Seconds(5));
  CHECK(names.all() == std::vector<std::string>{"other", "a", "b"});
  CHECK(first.by_phase().size() == 2);  // never entered b
  CHECK(second.by_phase()[1].time == Seconds(3));
  CHECK(second.by_phase()[2].time == Seconds(2));
}

TEST_CASE("The time of a strand that was idle is booked nowhere") {
  PhaseNames names;
  Ledger ledger(names);
  ledger.open(Seconds(5));
  ledger.close(Seconds(6));
  ledger.open(Seconds(10));
  ledger.enter("a", Seconds(11));
  ledger.leave(Seconds(14));
  ledger.close(Seconds(14));
  CHECK(ledger.by_phase()[0].time == Seconds(2));
  CHECK(ledger.by_phase()[1].time == Seconds(3));
}

TEST_CASE("Books of two strands add up phase by phase") {
  PhaseNames names;
  Ledger first(names);
  Ledger second(names);
  first.sent(Words(3));
  second.enter("a", Seconds(0));
  second.sent(Words(5));
  second.leave(Seconds(4));
  first.close(Seconds(7));
  std::vector<Traffic> sum = first.by_phase();
  add_phases(sum, second.by_phase());
  REQUIRE(sum.size() == 2);
  CHECK(sum[0].words_sent == Words(3));
  CHECK(sum[0].time == Seconds(7));
  CHECK(sum[1].words_sent == Words(5));
  CHECK(sum[1].time == Seconds(4));
}

TEST_CASE("A run's makespan and steps are its last rank's") {
  RunReport report;
  CHECK(report.makespan() == Seconds(0));
  CHECK(report.steps() == 0);
  report.ranks = {{.finished = Seconds(1), .steps = 9, .by_phase = {}},
                  {.finished = Seconds(3), .steps = 4, .by_phase = {}},
                  {.finished = Seconds(2), .steps = 6, .by_phase = {}}};
  CHECK(report.makespan() == Seconds(3));
  CHECK(report.steps() == 9);
}

TEST_CASE("Runs have the same traffic whatever the order of their phases and their times") {
  Traffic some;
  some.messages_sent = 1;
  some.words_sent = Words(5);
  Traffic slower = some;
  slower.time = Seconds(2);
  const auto run = [](std::vector<std::string> phases, std::vector<Traffic> traffic) {
    return RunReport{.phases = std::move(phases),
                     .ranks = {{.finished = Seconds(0), .by_phase = std::move(traffic)}}};
  };
  const RunReport one = run({"other", "a", "b"}, {{}, some, {}});
  CHECK(same_traffic(one, run({"other", "b", "a"}, {{}, {}, slower}), 0));
  CHECK(same_traffic(one, run({"other", "a"}, {{}, some}), 0));
  CHECK_FALSE(same_traffic(one, run({"other", "b"}, {{}, some}), 0));
  Traffic longer = some;
  longer.words_sent = Words(6);
  CHECK_FALSE(same_traffic(one, run({"other", "a"}, {{}, longer}), 0));
}

}  // namespace thinwire::inline kernel
