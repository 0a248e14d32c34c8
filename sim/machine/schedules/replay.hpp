// Runs a schedule as the program of the ranks of any network.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// What a schedule holds, over all ranks.
struct ScheduleTotals {
  std::int64_t operations = 0;
  std::int64_t messages = 0;
  Words words;
  Seconds work;
};

[[nodiscard]] ScheduleTotals totals_of(const Schedule& schedule);

/// Throws InputError, which begins with `origin`, if a peer is no rank, an operation waits for one
/// that does not exist, or operations wait for each other in a circle.
void check_schedule(const Schedule& schedule, const std::string& origin);

/// The program of a schedule that check_schedule() accepts, for as many ranks as it has; the
/// schedule must outlive the run. A rank begins an operation as soon as it may, and of several the
/// one that is listed first. If it has to wait and one operation comes next, it waits for what this
/// one needs, one after the other; if several may come next, for whatever ends first. The words of a message are those of its send.
[[nodiscard]] RankProgram replay_of(const Schedule& schedule);

}  // namespace thinwire::schedules
