// Records by what they have in common: how many, and the spread of what they measured.
#pragma once

#include <string>
#include <vector>

#include "sim/app/experiment/config.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

/// The columns of any of the records, in the order in which they come up.
[[nodiscard]] std::vector<std::string> columns_of(const std::vector<Json>& records);
/// Throws InputError that starts with `flag`, with the nearest name, where there is no such column.
void check_column(const std::string& flag, const std::string& column,
                  const std::vector<std::string>& known);
/// A value as a user writes it.
[[nodiscard]] std::string plain_text(const Json& value);
/// Numbers by size, texts by letters; what is null comes last. False where both are equal.
[[nodiscard]] bool comes_before(const Json& a, const Json& b);

/// One record a group of those that agree in the columns `by`, in the order in which groups come
/// up: these columns, `count`, `ok` (how many have a result), `sweeps` where they are of several,
/// and `_median`, `_min`, `_max` of time_s, steps, ratio_low, ratio_high, congestion_factor and
/// training.time_s, of those that any record has. The records are those of record_of.
[[nodiscard]] std::vector<Json> group_records(const std::vector<Json>& records,
                                              const std::vector<std::string>& by);
/// Of what group_records gives.
[[nodiscard]] std::vector<Column> group_columns(const std::vector<Json>& groups,
                                                const std::vector<std::string>& by);

}  // namespace thinwire::report
