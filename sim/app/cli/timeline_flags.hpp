// `thinwire run --timeline`.
#pragma once

#include <string>

#include "sim/app/cli/command.hpp"
#include "sim/app/experiment/row.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::cli {

struct TimelineFlags {
  std::string file;
  std::string ranks = "0-15,last";
  std::size_t most_events = experiment::TimelineSettings{}.most_events;
  bool ranks_given = false;
};

void add_timeline_flags(Command& command, TimelineFlags& flags);

/// As simulate_point, and writes the timeline and tells on stderr what is in it. Throws InputError
/// where the file cannot be written, or the point has no such ranks or no clock: before anything is
/// simulated. Of a run that fails there is what came before; where nothing ran there is no file.
[[nodiscard]] experiment::Row row_with_timeline(const TimelineFlags& flags,
                                                const experiment::Point& point, bool verbose,
                                                const ChildLimits& limits);

}  // namespace thinwire::cli
