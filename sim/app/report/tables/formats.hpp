// Formats records as text: a table for people, CSV and JSON for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/plan/config.hpp"

namespace thinwire::report {

/// `nccl` and `osu` are the formats of the benchmarks, for results alone (benchmark_text.hpp).
enum class Format : std::uint8_t { table, markdown, csv, json, jsonl, nccl, osu };

/// Whether a format is for people, with units, and not for programs.
[[nodiscard]] inline bool for_people(Format format) {
  return format == Format::table || format == Format::markdown;
}

/// The width of the terminal that stdout is, in characters; else what COLUMNS says; else 100.
[[nodiscard]] std::size_t terminal_width();
/// Whether stdout is a terminal.
[[nodiscard]] bool is_terminal();

/// How records are shown.
struct View {
  Format format = Format::table;
  std::vector<std::string>
      columns{};      ///< the only ones that are shown, by name; empty: the usual ones
  bool wide = false;  ///< all columns of a table, however wide they are
  std::size_t width = terminal_width();
  /// What is too wide even so has its names of columns broken, and is folded into several tables below
  /// each other: for people at a terminal, not for programs that read lines.
  bool folds = is_terminal();
};

/// When a table has a column that nobody named; `if_unfolded`: unless it would be folded for it.
enum class Shown : std::uint8_t { always, if_unfolded, if_room, if_wide };

/// A column of a table: its name, and the function that formats a record. Columns that contain words
/// are aligned at their left, numbers at their right.
struct Column {
  std::string name;
  std::function<std::string(const Json& record)> text;
  Shown shown = Shown::always;
};

/// The name of a key: without the unit, and, of a setting, without its group. "time_mean" for
/// "time_mean_s", "alpha" for "machine.alpha_s", "time_mean_median" for "time_mean_s_median".
[[nodiscard]] std::string name_of_key(std::string_view key);
/// The key that a user means by a name with or without unit and group, or by the name of an
/// interval, "ratio" for "ratio_low"; nothing if there is none.
[[nodiscard]] std::optional<std::string> find_key(const std::string& name,
                                                  const std::vector<std::string>& keys);
/// The same. Throws InputError that starts with `flag` if there is none.
[[nodiscard]] std::string key_of_name(const std::string& flag, const std::string& name,
                                      const std::vector<std::string>& keys);

/// A column of the records' `key`, with the unit of the key: see text_of_value. "-" where a record
/// has no such key. The key gives the name unless one is given.
[[nodiscard]] Column column(std::string key, std::string name = {}, Shown shown = Shown::always);
/// A column of two keys, "2 .. 3 ms"; one value where they are equal.
[[nodiscard]] Column interval(std::string name, std::string low, std::string high,
                              Shown shown = Shown::always);
/// Adds columns of keys.
void add_columns(std::vector<Column>& columns, std::initializer_list<const char*> keys,
                 Shown shown = Shown::always);
/// The records of this "kind", from a report that has several kinds.
[[nodiscard]] std::vector<Json> of_kind(const std::vector<Json>& records, std::string_view kind);

/// A table, aligned or as Markdown. It fits into the width of the view: columns that are shown if
/// there is room are left out, from the last on, long texts are broken, and where the view says so the
/// table is folded. Throws InputError for columns that do not exist.
[[nodiscard]] std::string to_table(const std::vector<Json>& records,
                                   const std::vector<Column>& columns, const View& view = {});
/// The header is the union of the keys of all records; missing values are empty. RFC 4180.
[[nodiscard]] std::string to_csv(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_array(const std::vector<Json>& records);
[[nodiscard]] std::string to_json_lines(const std::vector<Json>& records);

/// In one of the first five formats. Where the view names columns, records have these alone.
[[nodiscard]] std::string render(const View& view, const std::vector<Json>& records,
                                 const std::vector<Column>& columns);

/// Breaks a text between words into lines of at most `width` characters; longer words stay whole.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t width);
/// The value, or null if there is none.
[[nodiscard]] Json optional_json(const std::optional<double>& value);
/// Formats a number with at most `digits` significant digits; booleans are unchanged; "-" for null.
[[nodiscard]] std::string number_text(const Json& value, int digits = 6);
/// A duration in the largest unit in which it is at least 1.
[[nodiscard]] std::string seconds_text(double value);
/// A value as a person reads it, in the unit that ends its key: "2.68 ms", "534.2 MB", "199.3 GB/s";
/// other fractions with 4 digits, whole numbers with all.
[[nodiscard]] std::string text_of_value(std::string_view key, const Json& value);
/// "low" if both ends are equal, otherwise "low .. high".
[[nodiscard]] std::string interval_text(const Json& low, const Json& high, int digits = 6);

}  // namespace thinwire::report
