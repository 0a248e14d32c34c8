// Results beside their formulas and beside one another, as the commands print them.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// The number of iterations for which a training's row gives the hours.
inline constexpr double kReportedIterations = 100'000;

/// The records of all rows, with what a row is among the others: `over_best`, its time over the time
/// of the fastest row that differs in nothing but the scheme, its options, and no density; of a
/// training, `training.efficiency` of weak scaling, relative to the row with the fewest ranks that
/// differs in nothing else, and the hours of kReportedIterations. `tolerance` as in compare().
[[nodiscard]] std::vector<Json> comparison_records(const std::vector<results::Row>& rows,
                                                   double tolerance);
/// The time of records, or the steps of those without a clock.
[[nodiscard]] Column steps_or_time();
/// These records, with trainings in a table of their own. The format is any.
[[nodiscard]] std::string comparison_text(const std::vector<results::Row>& rows, double tolerance,
                                          const View& view);

}  // namespace thinwire::report
