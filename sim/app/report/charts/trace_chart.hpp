// A trace's statistics as a drawing.
#pragma once

#include <string>

#include "traces/statistics.hpp"

namespace thinwire::report {

/// How unions grow with the ranks, and the thresholds of the iterations, as SVG.
[[nodiscard]] std::string trace_svg(const traces::TraceHeader& header,
                                    const traces::TraceStatistics& statistics);

}  // namespace thinwire::report
