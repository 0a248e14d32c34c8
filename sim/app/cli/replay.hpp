// Runs the schedules of files, which come from elsewhere or from 'thinwire export'.
#pragma once

#include <string>
#include <vector>

#include "sim/app/cli/shared.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::cli {

/// Where a schedule is, and how its times are to be read.
struct ScheduleFlags {
  std::string goal;                      ///< a file of GOAL text
  std::string chakra;                    ///< a folder of Chakra traces
  std::vector<std::string> collectives;  ///< COLLECTIVE=SCHEME, for collectives in the traces
  std::string groups;                    ///< a file with the ranks of their process groups
  double unit = 1e-9;                    ///< of GOAL's local work, in seconds

  [[nodiscard]] bool any() const { return !goal.empty() || !chakra.empty(); }
};

/// --goal, --chakra and --time-unit, with help for a command that writes or one that reads.
enum class ScheduleUse : std::uint8_t { write, read };
void add_schedule_flags(Command& command, ScheduleFlags& flags, ScheduleUse use);

/// Simulates the schedule on the network that the settings describe, one run for each combination
/// of their values, and prints the times. The setting says which sends are eager, else the
/// file does. Throws InputError for a setting that a schedule does not read.
int run_schedule(const ScheduleFlags& flags, const Json& given,
                 const std::vector<std::string>& settings, bool verbose, const report::View& view);

}  // namespace thinwire::cli
