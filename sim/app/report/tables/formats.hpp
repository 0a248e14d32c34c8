// Formats records as text: an aligned table for people, CSV and JSON for programs.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/plan/config.hpp"

namespace thinwire::report {

/// `nccl` and `osu` are those of the benchmarks, for results alone (benchmark_text.hpp).
enum class Format : std::uint8_t { table, csv, json, jsonl, nccl, osu };

/// A column of a table: its heading, and the function that formats a record.
struct Column {
  std::string heading;
  std::function<std::string(const Json& record)> text;
  bool left = false;  ///< left-aligned; numbers are right-aligned
};

/// A left-aligned column of the records' `key`; values other than texts as in number_text.
[[nodiscard]] Column text_column(std::string heading, std::string key);
/// A right-aligned column of the records' `key` as in number_text.
[[nodiscard]] Column number_column(std::string heading, std::string key, int digits = 6);
/// A right-aligned column of two keys as in interval_text.
[[nodiscard]] Column interval_column(std::string heading, std::string low, std::string high,
                                     int digits = 6);
/// Adds columns that have their keys as headings.
void add_texts(std::vector<Column>& columns, std::initializer_list<const char*> keys);
void add_numbers(std::vector<Column>& columns, std::initializer_list<const char*> keys,
                 int digits = 6);
/// The records of this "kind", from a report that has several kinds.
[[nodiscard]] std::vector<Json> of_kind(const std::vector<Json>& records, std::string_view kind);

[[nodiscard]] std::string to_table(const std::vector<Json>& records,
                                   const std::vector<Column>& columns);
/// The header is the union of the keys of all records; missing values are empty. RFC 4180.
[[nodiscard]] std::string to_csv(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_array(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_lines(const std::vector<Json>& records);

/// In one of the first four formats.
[[nodiscard]] std::string render(Format format, const std::vector<Json>& records,
                                 const std::vector<Column>& columns);

/// The value, or null if there is none.
[[nodiscard]] Json optional_json(const std::optional<double>& value);
/// Formats a number with at most `digits` significant digits; booleans are unchanged; "-" for null.
[[nodiscard]] std::string number_text(const Json& value, int digits = 6);
/// "low" if both ends are equal, otherwise "low .. high".
[[nodiscard]] std::string interval_text(const Json& low, const Json& high, int digits = 6);

}  // namespace thinwire::report
