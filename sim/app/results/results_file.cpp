#include "sim/app/results/results_file.hpp"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "sim/app/results/lines_file.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::results {

RowsFile rows_from(const std::string& text, const std::string& path) {
  RowsFile result;
  result.truncated = !for_each_json_line(
      text, path,
      [&](const Json& line, const std::string& at) { result.rows.push_back(row_from(line, at)); },
      "{\"schema\":");
  return result;
}

RowsFile read_rows(const std::string& path) { return rows_from(read_text(path), path); }

UniqueRows unique_rows(std::vector<Row> rows) {
  UniqueRows unique;
  std::map<std::string, std::size_t> places;  // by key
  std::set<std::string> contradicted;
  for (Row& row : rows) {
    const auto [place, is_new] = places.emplace(row.key, unique.rows.size());
    if (is_new) {
      unique.rows.push_back(std::move(row));
      continue;
    }
    ++unique.repeated;
    Row& known = unique.rows[place->second];
    const bool both = known.status == Status::ok && row.status == Status::ok;
    if (both && to_json(known).at("result") != to_json(row).at("result")) {
      contradicted.insert(row.key);
    }
    if (row.status == Status::ok || known.status != Status::ok) known = std::move(row);
  }
  unique.contradictions = contradicted.size();
  return unique;
}

std::string lines_of(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += to_json(row).dump() + '\n';
  return lines;
}

void write_rows(const std::string& path, const std::vector<Row>& rows) {
  std::error_code ignored;
  std::optional<LinesFile> lock;  // a sweep may be writing it
  if (std::filesystem::is_regular_file(path, ignored)) {
    lock.emplace(path, [](const std::string& /*text*/) {});
  }
  write_text(path, lines_of(rows));
}

}  // namespace thinwire::results
