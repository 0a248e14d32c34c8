// The flags of `thinwire run --timeline`.
#pragma once

#include <string>

#include "sim/app/cli/shared.hpp"
#include "sim/app/run/simulate.hpp"

namespace thinwire::cli {

struct TimelineFlags {
  std::string file;
  std::string ranks = "0-15,last";
  std::size_t most_events = run::TimelineSettings{}.most_events;
  bool ranks_given = false;
};

void add_timeline_flags(Command& command, TimelineFlags& flags);

/// Runs the point, writes the timeline and summarises it on stderr. Throws InputError before
/// the simulation if the file cannot be written, or the point lacks such ranks or a clock. A failed
/// run leaves the events up to its failure; without any there is no file.
[[nodiscard]] results::Row row_with_timeline(const TimelineFlags& flags, const plan::Point& point,
                                             const run::ProcessSettings& settings);

}  // namespace thinwire::cli
