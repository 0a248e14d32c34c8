// Schedules as GOAL, the group operation assembly language of LogGOPSim and ATLAHS (Hoefler, Siebert,
// Lumsdaine: Group Operation Assembly Language, ICPP 2009), as text and in LogGOPSim's binary form.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/base/units.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::schedules {

/// GOAL gives local work as a whole number of an unnamed unit; LogGOPSim's is the nanosecond.
inline constexpr Seconds kGoalUnit{1e-9};
/// LogGOPSim's default: sends up to this size do not wait for their receives.
inline constexpr Bytes kEagerOfLogGopsim{65535};

/// The text. Work is rounded to units. A message without words has one byte, because LogGOPSim
/// knows no shorter one. A comment says up to which size sends are eager.
[[nodiscard]] std::string to_goal(const Schedule& schedule, Bytes eager, Seconds unit = kGoalUnit);

/// Reads what to_goal() writes, GOAL text of others (num_ranks, rank, send, recv and calc with tag,
/// cpu and nic, requires and irequires, comments), and the binary form that txt2bin makes of it.
/// Sizes are rounded to words of 4 bytes, so that a message of one byte has none, but not beyond
/// kEagerOfLogGopsim. NICs are ignored: a rank has one. The protocol is the one that the file's comment
/// names, else LogGOPSim's. Throws InputError, which names the line, for anything else, for receives from
/// any source or of any tag, and as check_schedule() does.
[[nodiscard]] ReadSchedule from_goal(std::string_view text, const std::string& origin,
                                     Seconds unit = kGoalUnit);

/// The words of a message of `bytes` bytes in GOAL.
[[nodiscard]] Words words_of_goal(std::int64_t bytes);

}  // namespace thinwire::schedules
