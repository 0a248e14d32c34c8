// GOAL in the binary form that LogGOPSim's txt2bin writes and LogGOPSim reads.
#pragma once

#include <string>
#include <string_view>

#include "sim/machine/schedules/goal.hpp"

namespace thinwire::schedules {

/// Whether the text begins as such a file does, also one that a run of LogGOPSim has used up.
[[nodiscard]] bool is_binary_goal(std::string_view text);

/// Reads it; check_schedule() remains to be called. Throws InputError for a file that is cut off or
/// used up, and as from_goal() does.
[[nodiscard]] ReadSchedule from_binary_goal(std::string_view text, const std::string& origin,
                                            Seconds unit);

}  // namespace thinwire::schedules
