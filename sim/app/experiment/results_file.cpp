#include "sim/app/experiment/results_file.hpp"

#include <nlohmann/json.hpp>

namespace thinwire::experiment {

std::string lines_of(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += to_json(row).dump() + '\n';
  return lines;
}

void write_rows(const std::string& path, const std::vector<Row>& rows) {
  write_text(path, lines_of(rows));
}

ResultsFile::ResultsFile(const std::string& path)
    : file_(path, [&](const std::string& text) { before_ = rows_from(text, path).rows; }) {}

void ResultsFile::append(const Row& row) { file_.append(lines_of({row})); }

void ResultsFile::replace(const std::vector<Row>& rows) { file_.replace(lines_of(rows)); }

}  // namespace thinwire::experiment
