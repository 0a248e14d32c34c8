// Reports training iterations as a table: how their time is spent, and the throughput.
#pragma once

#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// The number of iterations for which a table gives the hours.
inline constexpr double kReportedIterations = 100'000;

/// One record per row with a workload; `efficiency` is that of weak scaling, relative to the row
/// with the fewest ranks among those that differ in nothing else.
[[nodiscard]] std::vector<Json> training_records(const std::vector<results::Row>& rows);
/// The columns of these records, with one for each setting in which they differ.
[[nodiscard]] std::vector<Column> training_columns(const std::vector<Json>& records);

}  // namespace thinwire::report
