#include "sim/app/report/tables/formats.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::report {

std::string to_json_array(const std::vector<Json>& records) {
  return Json(records).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_json_lines(const std::vector<Json>& records) {
  std::string lines;
  for (const Json& record : records) lines += dumped(record) + '\n';
  return lines;
}

namespace {

/// Records with the columns that are named alone, under the keys that the names mean.
std::vector<Json> with_columns(const std::vector<Json>& records, const View& view) {
  if (view.columns.empty()) return records;
  std::vector<std::string> keys;
  const std::vector<std::string> known = columns_of(records);
  for (const std::string& name : view.columns) {
    const std::string key = key_of_name("--columns", name, known);
    keys.push_back(key);
    if (!key.ends_with("_low") && !key.ends_with("_low_s")) continue;
    if (key == name || name_of_key(key) == name) continue;
    std::string high = key;
    keys.push_back(high.replace(high.rfind("_low"), 4, "_high"));
  }
  std::vector<Json> chosen;
  for (const Json& record : records) {
    Json& one = chosen.emplace_back(Json::object());
    for (const std::string& key : keys) one[key] = record.contains(key) ? record.at(key) : Json();
  }
  return chosen;
}

}  // namespace

std::string render(const View& view, const std::vector<Json>& records,
                   const std::vector<Column>& columns) {
  switch (view.format) {
    case Format::csv:
      return to_csv(with_columns(records, view));
    case Format::json:
      return to_json_array(with_columns(records, view));
    case Format::jsonl:
      return to_json_lines(with_columns(records, view));
    case Format::nccl:
    case Format::osu:
      throw InputError("--format: nccl and osu are for the results of run and sweep");
    case Format::table:
    case Format::markdown:
      break;
  }
  return to_table(records, columns, view);
}

}  // namespace thinwire::report
