// Schedules as GOAL text, the group operation assembly language of LogGOPSim and ATLAHS (Hoefler,
// Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009).
#pragma once

#include <string>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// GOAL gives local work as a whole number of an unnamed unit; LogGOPSim's is the nanosecond.
inline constexpr Seconds kGoalUnit{1e-9};

/// The text. Work is rounded to units. A message without words has one byte, because LogGOPSim
/// knows no shorter one.
[[nodiscard]] std::string to_goal(const Schedule& schedule, Seconds unit = kGoalUnit);

/// Reads what to_goal() writes, and GOAL text of others: num_ranks, rank, send, recv and calc with
/// tag, cpu and nic, requires and irequires, comments. Sizes are rounded to words of 4 bytes, so
/// that a message of one byte has none. NICs are ignored: a rank has one. Throws InputError, which
/// names the line, for anything else, for receives from any source or of any tag, and as
/// check_schedule() does.
[[nodiscard]] Schedule from_goal(const std::string& text, const std::string& origin,
                                 Seconds unit = kGoalUnit);

}  // namespace thinwire::schedules
