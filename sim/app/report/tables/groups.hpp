// Groups records that agree in some columns; gives counts and spreads of measured values.
#pragma once

#include <string>
#include <vector>

#include "sim/app/plan/config.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

/// The columns of all records, in the order of their first occurrence.
[[nodiscard]] std::vector<std::string> columns_of(const std::vector<Json>& records);
/// Formats a value as a user would write it.
[[nodiscard]] std::string plain_text(const Json& value);
/// Orders numbers by value and texts alphabetically, with null last. False for equal values.
[[nodiscard]] bool comes_before(const Json& a, const Json& b);

/// One record per group of records that agree in the columns `by`, in order of first occurrence:
/// these columns, `count`, `ok` (those with a result), `sweeps` if there are several, and
/// `_median`, `_min`, `_max` of time_s, time_mean_s, steps, training.time_s, ratio_low, ratio_high
/// and congestion_factor, if any record has them. The records are as record_of makes them.
[[nodiscard]] std::vector<Json> group_records(const std::vector<Json>& records,
                                              const std::vector<std::string>& by);
/// The columns for the records of group_records.
[[nodiscard]] std::vector<Column> group_columns(const std::vector<Json>& groups,
                                                const std::vector<std::string>& by);

}  // namespace thinwire::report
