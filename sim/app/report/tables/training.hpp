// Iterations of trainings as a table: where the time goes, and what comes out of it.
#pragma once

#include <vector>

#include "sim/app/experiment/row.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

/// Iterations for which a table says the hours.
inline constexpr double kReportedIterations = 100'000;

/// One record for each row that has a workload; `efficiency` is weak scaling's, against the row of
/// the fewest ranks among those that differ in nothing else.
[[nodiscard]] std::vector<Json> training_records(const std::vector<experiment::Row>& rows);
[[nodiscard]] std::vector<Column> training_columns();

}  // namespace thinwire::report
