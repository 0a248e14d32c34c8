// Results beside a baseline's results for the same points: what an older version simulated.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// A record per point of either side, in the order of `rows` and then of `baseline`, with both
/// results, their ratios (the new one over the baseline's), and `change`:
///   same             every ratio is within `tolerance` of 1
///   faster, slower   the time is not, or the number of steps on the network counting
///   traffic          the time is, and the words or the messages are not
///   failed, mended   only the baseline has a result, or only the new side
///   new, missing     the baseline does not have the point, or only the baseline has it
///   no result        neither side has a result, or the baseline does not have the point
/// If one side has several rows of a point, the last one counts. `settings` are flat_settings.
[[nodiscard]] std::vector<Json> baseline_records(const std::vector<results::Row>& rows,
                                                 const std::vector<results::Row>& baseline,
                                                 double tolerance);
[[nodiscard]] std::vector<Column> baseline_columns(const std::vector<Json>& records);
/// Whether a gate lets a record pass: its change is 'same', 'new', 'mended' or 'no result'.
[[nodiscard]] bool passes_gate(const Json& record);

}  // namespace thinwire::report
