#include "sim/app/experiment/results_file.hpp"

#include <nlohmann/json.hpp>

#include "sim/app/experiment/lines_file.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::experiment {

RowsFile rows_from(const std::string& text, const std::string& path) {
  RowsFile result;
  result.truncated = !for_each_json_line(text, path, [&](const Json& line, const std::string& at) {
    result.rows.push_back(row_from(line, at));
  });
  return result;
}

RowsFile read_rows(const std::string& path) { return rows_from(read_text(path), path); }

std::string lines_of(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += to_json(row).dump() + '\n';
  return lines;
}

void write_rows(const std::string& path, const std::vector<Row>& rows) {
  write_text(path, lines_of(rows));
}

}  // namespace thinwire::experiment
