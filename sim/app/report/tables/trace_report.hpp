// A trace's statistics as records, and as tables with plots of characters.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "traces/statistics.hpp"

namespace thinwire::report {

/// One of kind "trace", then of kinds "union", "drift" and "layer".
[[nodiscard]] std::vector<Json> trace_records(const std::string& path,
                                              const traces::TraceReader& reader,
                                              const traces::TraceStatistics& statistics);
[[nodiscard]] std::string trace_text(const std::vector<Json>& records,
                                     const traces::TraceStatistics& statistics);

/// A horizontal bar of up to `width` characters; a part of one in eighths.
[[nodiscard]] std::string bar(double share, int width);
/// One character a value, at most `width` of them: means of neighbours where there are more.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace thinwire::report
