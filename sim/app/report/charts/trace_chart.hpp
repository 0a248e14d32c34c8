// Draws a trace's statistics.
#pragma once

#include <string>

#include "traces/statistics.hpp"

namespace thinwire::report {

/// The growth of unions with the ranks, and the thresholds of the iterations, as SVG.
[[nodiscard]] std::string trace_svg(const traces::TraceHeader& header,
                                    const traces::TraceStatistics& statistics);

}  // namespace thinwire::report
