// Writes a timeline in Chrome's trace-event format, which Perfetto (https://ui.perfetto.dev) opens.
#pragma once

#include <string>

#include "sim/app/plan/config.hpp"
#include "sim/core/kernel/timeline.hpp"

namespace thinwire::report {

struct TimelineText {
  std::int64_t events = 0;  ///< not counting the names of the tracks
  std::string text;
};

/// The JSON that docs/reference/timeline.md describes. `about` becomes its otherData. Slices that a
/// failed run left open end at the time of the last event.
[[nodiscard]] TimelineText to_trace_events(const Timeline& timeline, Json about);

}  // namespace thinwire::report
