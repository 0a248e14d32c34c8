// A timeline in the trace-event format of Chrome, which Perfetto (https://ui.perfetto.dev) opens.
#pragma once

#include <string>

#include "sim/app/experiment/config.hpp"
#include "sim/core/kernel/timeline.hpp"

namespace thinwire::report {

struct TimelineText {
  std::int64_t events = 0;  ///< without the names of the tracks
  std::string text;
};

/// The JSON of docs/timeline.md. `about` goes to its otherData. Slices that a failed run left open
/// end with the last thing that happened.
[[nodiscard]] TimelineText to_trace_events(const Timeline& timeline, Json about);

}  // namespace thinwire::report
