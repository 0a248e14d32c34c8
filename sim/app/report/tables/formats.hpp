// Records as text: an aligned table for people, CSV and JSON for programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/experiment/config.hpp"

namespace thinwire::report {

enum class Format : std::uint8_t { table, csv, json, jsonl };

/// A column of a table: its heading, and how it shows a record.
struct Column {
  std::string heading;
  std::function<std::string(const Json& record)> text;
  bool left = false;  ///< numbers stand to the right
};

/// A column of text to the left: the records' `key`, as number_text shows it where it is no text.
[[nodiscard]] Column text_column(std::string heading, std::string key);
/// A column of numbers: what number_text makes of the records' `key`.
[[nodiscard]] Column number_column(std::string heading, std::string key);
/// The records whose "kind" is this one, of reports that hold several kinds.
[[nodiscard]] std::vector<Json> of_kind(const std::vector<Json>& records, std::string_view kind);

[[nodiscard]] std::string to_table(const std::vector<Json>& records,
                                   const std::vector<Column>& columns);
/// The union of the keys of all records is the header; what a record lacks is empty. RFC 4180.
[[nodiscard]] std::string to_csv(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_array(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_lines(const std::vector<Json>& records);

[[nodiscard]] std::string render(Format format, const std::vector<Json>& records,
                                 const std::vector<Column>& columns);

/// Null where there is none.
[[nodiscard]] Json optional_json(const std::optional<double>& value);
/// A number in at most `digits` significant digits; true and false as they are; "-" for null.
[[nodiscard]] std::string number_text(const Json& value, int digits = 6);
/// "low" where both ends are equal, else "low .. high".
[[nodiscard]] std::string interval_text(const Json& low, const Json& high, int digits = 6);

}  // namespace thinwire::report
