// Schedules as programs: the replay of ranks whose operations begin in the order of their list.
#include "sim/machine/schedules/replay.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::schedules {

namespace {

/// Messages between random ranks. Each rank posts its parts in the order of the messages, and waits
/// before some of them for some of those before. The last of each rank is of processor `last`.
ReadSchedule random_schedule(std::uint64_t seed, int last) {
  constexpr std::size_t kRanks = 5;
  constexpr std::uint64_t kMessages = 40;
  std::vector<std::vector<ScheduleOp>> ops(kRanks);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const std::size_t from = random_bits(seed, i, 0) % kRanks;
    const std::size_t to = (from + 1 + random_bits(seed, i, 1) % (kRanks - 1)) % kRanks;
    ScheduleOp op;
    op.words = Words(static_cast<std::int64_t>(random_bits(seed, i, 2) % 1000));
    op.kind = ScheduleOpKind::send;
    op.peer = Rank(static_cast<std::int32_t>(to));
    ops[from].push_back(op);
    op.kind = ScheduleOpKind::receive;
    op.peer = Rank(static_cast<std::int32_t>(from));
    ops[to].push_back(op);
  }
  ReadSchedule schedule{.ops = {}, .origin = "random"};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::vector<OpLists::Pair> after_end;
    std::vector<OpLists::Pair> after_begin;
    for (std::uint32_t op = 1; op < ops[rank].size(); ++op) {
      after_begin.emplace_back(op, op - 1);
      for (std::uint32_t before = 0; before < op; ++before) {
        if (random_bits(seed, rank, op, before) % 8 == 0) after_end.emplace_back(op, before);
      }
    }
    if (!ops[rank].empty()) ops[rank].back().processor = last;
    schedule.ops.emplace_back(std::move(ops[rank]), after_end, after_begin);
  }
  check_schedule(schedule);
  return schedule;
}

std::vector<Seconds> ends_of(const ReadSchedule& schedule) {
  networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(100), Seconds(1)));
  std::vector<Seconds> ends;
  for (const RankReport& rank :
       network.run(static_cast<int>(schedule.ops.size()), replay_of(schedule)).ranks) {
    ends.push_back(rank.finished);
  }
  return ends;
}

}  // namespace

TEST_CASE("ranks whose operations begin in order are replayed as those with several processors") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CHECK(ends_of(random_schedule(seed, 0)) == ends_of(random_schedule(seed, 1)));
  }
}

TEST_CASE("a receive without room for its message ends the run") {
  ReadSchedule schedule{.ops = {}, .origin = "small"};
  ScheduleOp op{
      .kind = ScheduleOpKind::send, .peer = Rank(1), .tag = {}, .words = Words(3), .work = {}};
  schedule.ops.emplace_back(std::vector{op}, std::vector<OpLists::Pair>{},
                            std::vector<OpLists::Pair>{});
  op.kind = ScheduleOpKind::receive;
  op.peer = Rank(0);
  op.words = Words(2);
  schedule.ops.emplace_back(std::vector{op}, std::vector<OpLists::Pair>{},
                            std::vector<OpLists::Pair>{});
  CHECK(test::error_of<SimulationError>([&] { (void)ends_of(schedule); }) ==
        "small: rank 1, operation 1: a receive of 8 bytes gets a message of 12 bytes");
  // What the operations of the file are to blame for is named when the run has failed.
  CHECK(test::error_of<InputError>([&] { check_progress(schedule, Bytes(0)); }) ==
        "small: rank 1, operation 1: a receive of 8 bytes gets the message of 12 bytes of rank 0, "
        "operation 1");
}

}  // namespace thinwire::schedules
