// The flags of `thinwire run --timeline`.
#pragma once

#include <string>

#include "sim/app/cli/command.hpp"
#include "sim/app/experiment/simulate.hpp"

namespace thinwire::cli {

struct TimelineFlags {
  std::string file;
  std::string ranks = "0-15,last";
  std::size_t most_events = experiment::TimelineSettings{}.most_events;
  bool ranks_given = false;
};

void add_timeline_flags(Command& command, TimelineFlags& flags);

/// Calls simulate_point, writes the timeline and summarises it on stderr. Throws InputError before
/// the simulation if the file cannot be written, or the point lacks such ranks or a clock. A failed
/// run leaves the events up to its failure; without any there is no file.
[[nodiscard]] experiment::Row row_with_timeline(const TimelineFlags& flags,
                                                const experiment::Point& point,
                                                const experiment::ProcessSettings& settings);

}  // namespace thinwire::cli
