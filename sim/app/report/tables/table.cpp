#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::report {

namespace {

/// The number of terminal columns of a UTF-8 text: one per character for the characters used here.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Column text_column(std::string heading, std::string key) {
  return {std::move(heading),
          [key = std::move(key)](const Json& record) {
            const Json& value = record.at(key);
            if (value.is_boolean()) return std::string(value.get<bool>() ? "yes" : "no");
            return value.is_string() ? value.get<std::string>() : number_text(value);
          },
          true};
}

Column number_column(std::string heading, std::string key, int digits) {
  return {std::move(heading),
          [key = std::move(key), digits](const Json& r) { return number_text(r.at(key), digits); }};
}

Column interval_column(std::string heading, std::string low, std::string high, int digits) {
  return {std::move(heading),
          [low = std::move(low), high = std::move(high), digits](const Json& r) {
            return interval_text(r.at(low), r.at(high), digits);
          }};
}

void add_texts(std::vector<Column>& columns, std::initializer_list<const char*> keys) {
  for (const char* key : keys) columns.push_back(text_column(key, key));
}

void add_numbers(std::vector<Column>& columns, std::initializer_list<const char*> keys,
                 int digits) {
  for (const char* key : keys) columns.push_back(number_column(key, key, digits));
}

std::vector<Json> of_kind(const std::vector<Json>& records, std::string_view kind) {
  std::vector<Json> found;
  std::ranges::copy_if(records, std::back_inserter(found),
                       [kind](const Json& r) { return r.at("kind") == kind; });
  return found;
}

std::string to_table(const std::vector<Json>& records, const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].push_back(column.heading);
  for (const Json& record : records) {
    lines.emplace_back();
    for (const Column& column : columns) {
      lines.back().push_back(printable(column.text(record)));
    }
  }
  std::vector<std::size_t> widest(columns.size());
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      widest[c] = std::max(widest[c], width_of(line[c]));
    }
  }
  std::string table;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string padding(widest[c] - width_of(line[c]), ' ');
      if (c > 0) row += "  ";
      row += columns[c].left ? line[c] + padding : padding + line[c];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    table += row + '\n';
  }
  return table;
}

std::string number_text(const Json& value, int digits) {
  if (value.is_null()) return "-";
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  return fmt::format("{:.{}g}", value.get<double>(), digits);
}

std::string interval_text(const Json& low, const Json& high, int digits) {
  const std::string from = number_text(low, digits);
  const std::string to = number_text(high, digits);
  return from == to ? from : fmt::format("{} .. {}", from, to);
}

}  // namespace thinwire::report
