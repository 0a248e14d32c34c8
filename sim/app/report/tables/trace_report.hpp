// Reports a trace's statistics as records, and as tables with character plots.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "traces/statistics.hpp"

namespace thinwire::report {

/// One record of kind "trace", then records of kinds "union", "drift" and "layer".
[[nodiscard]] std::vector<Json> trace_records(const std::string& path,
                                              const traces::TraceReader& reader,
                                              const traces::TraceStatistics& statistics);
[[nodiscard]] std::string trace_text(const std::vector<Json>& records,
                                     const traces::TraceStatistics& statistics);

/// A horizontal bar of up to `width` characters, with a resolution of an eighth of a character.
[[nodiscard]] std::string bar(double share, int width);
/// A plot of one character per value, at most `width`; more values are averaged with neighbours.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace thinwire::report
