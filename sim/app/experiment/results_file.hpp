// Reads and writes the rows of a results file, as JSON Lines.
#pragma once

#include <string>
#include <vector>

#include "sim/app/experiment/row.hpp"

namespace thinwire::experiment {

/// The content of a results file.
struct RowsFile {
  std::vector<Row> rows;
  bool truncated = false;  ///< the last line is incomplete: its writer was killed
};

/// The rows of JSON Lines. Throws InputError naming the file and line of any other error.
[[nodiscard]] RowsFile rows_from(const std::string& text, const std::string& path);
/// Throws InputError if the file cannot be read, and as rows_from does.
[[nodiscard]] RowsFile read_rows(const std::string& path);

/// The rows as lines of a results file.
[[nodiscard]] std::string lines_of(const std::vector<Row>& rows);
/// Writes the rows to a file atomically: it holds either its old content or all of the rows. Throws
/// InputError if it cannot be written.
void write_rows(const std::string& path, const std::vector<Row>& rows);

}  // namespace thinwire::experiment
