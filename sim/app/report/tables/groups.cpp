#include "sim/app/report/tables/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/app/report/tables/records.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::report {

namespace {

constexpr std::array kMeasuredColumns{"time_s",           "time_mean_s", "steps",
                                      "training.time_s",  "ratio_low",   "ratio_high",
                                      "congestion_factor"};

const Json& value_of(const Json& record, const std::string& column) {
  static const Json kNull;
  const auto found = record.find(column);
  return found == record.end() ? kNull : *found;
}

/// The numbers in a column, ascending.
std::vector<double> numbers_in(const std::vector<const Json*>& records, const char* column) {
  std::vector<double> numbers;
  for (const Json* record : records) {
    const Json& value = value_of(*record, column);
    if (value.is_number()) numbers.push_back(value.get<double>());
  }
  std::ranges::sort(numbers);
  return numbers;
}

double median(const std::vector<double>& ascending) {
  const std::size_t middle = ascending.size() / 2;
  if (ascending.size() % 2 == 1) return ascending[middle];
  return (ascending[middle - 1] + ascending[middle]) / 2;
}

/// The columns that hold a number in any of the records.
std::vector<const char*> measured_in(const std::vector<Json>& records) {
  std::vector<const char*> measured;
  for (const char* column : kMeasuredColumns) {
    if (std::ranges::any_of(records,
                            [&](const Json& r) { return value_of(r, column).is_number(); })) {
      measured.push_back(column);
    }
  }
  return measured;
}

std::set<std::string> sweeps_in(const std::vector<const Json*>& records) {
  std::set<std::string> sweeps;
  for (const Json* record : records) sweeps.insert(plain_text(value_of(*record, "sweep")));
  return sweeps;
}

}  // namespace

std::vector<std::string> columns_of(const std::vector<Json>& records) {
  std::vector<std::string> columns;
  std::set<std::string> seen;
  for (const Json& record : records) {
    for (const auto& item : record.items()) {
      if (seen.insert(item.key()).second) columns.push_back(item.key());
    }
  }
  return columns;
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool comes_before(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null()) return !a.is_null();
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  return plain_text(a) < plain_text(b);
}

std::vector<Json> group_records(const std::vector<Json>& records,
                                const std::vector<std::string>& by) {
  std::vector<std::vector<const Json*>> groups;
  std::map<std::string, std::size_t> group_of;
  std::vector<const Json*> all;
  for (const Json& record : records) {
    Json key = Json::array();
    for (const std::string& column : by) key.push_back(value_of(record, column));
    const auto [found, fresh] = group_of.emplace(key.dump(), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(&record);
    all.push_back(&record);
  }
  const bool mixed = sweeps_in(all).size() > 1;
  const bool any_far = std::ranges::any_of(records, selects_far_from_k);
  std::vector<Json> result;
  for (const auto& group : groups) {
    Json one = {{"schema", "groups/1"}};
    for (const std::string& column : by) one[column] = value_of(*group.front(), column);
    one["count"] = group.size();
    one["ok"] = std::ranges::count_if(
        group, [](const Json* record) { return value_of(*record, "status") == "ok"; });
    const auto far = std::ranges::count_if(
        group, [](const Json* record) { return selects_far_from_k(*record); });
    if (any_far) one["far_from_k"] = far;
    if (mixed) {
      std::string sweeps;
      for (const std::string& sweep : sweeps_in(group)) {
        sweeps += (sweeps.empty() ? "" : ",") + sweep;
      }
      one["sweeps"] = sweeps;
    }
    for (const std::string column : measured_in(records)) {
      const std::vector<double> numbers = numbers_in(group, column.c_str());
      const bool none = numbers.empty();
      one[column + "_median"] = none ? Json() : Json(median(numbers));
      one[column + "_min"] = none ? Json() : Json(numbers.front());
      one[column + "_max"] = none ? Json() : Json(numbers.back());
    }
    result.push_back(std::move(one));
  }
  return result;
}

std::vector<Column> group_columns(const std::vector<Json>& groups,
                                  const std::vector<std::string>& by) {
  std::vector<Column> columns;
  for (const std::string& key : columns_of(groups)) {
    if (key == "schema") continue;
    const bool given = std::ranges::find(by, key) != by.end();
    const bool spread = key.ends_with("_min") || key.ends_with("_max");
    columns.push_back(column(key, {},
                             given    ? Shown::always
                             : spread ? Shown::if_wide
                                      : Shown::if_room));
  }
  return columns;
}

}  // namespace thinwire::report
