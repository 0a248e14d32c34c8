// Reads and writes the rows of a results file, as JSON Lines.
#pragma once

#include <string>
#include <vector>

#include "sim/app/results/row.hpp"

namespace thinwire::results {

/// The content of a results file.
struct RowsFile {
  std::vector<Row> rows;
  bool truncated = false;  ///< the last line is incomplete: its writer was killed
};

/// The rows of JSON Lines. Throws InputError naming the file and line of any other error.
[[nodiscard]] RowsFile rows_from(const std::string& text, const std::string& path);
/// Throws InputError if the file cannot be read, and as rows_from does.
[[nodiscard]] RowsFile read_rows(const std::string& path);

/// Rows with each key once.
struct UniqueRows {
  std::vector<Row> rows;
  std::size_t repeated = 0;        ///< rows that were left out
  std::size_t contradictions = 0;  ///< keys of which two rows succeeded with different results
};

/// Keeps one row of each key: the last one that succeeded, else the last one. It stands where the first
/// one was.
[[nodiscard]] UniqueRows unique_rows(std::vector<Row> rows);

/// The rows as lines of a results file.
[[nodiscard]] std::string lines_of(const std::vector<Row>& rows);
/// Writes the rows to a file, which holds either what it held before or all of them. Throws
/// InputError where it cannot be written, or where a sweep is writing it.
void write_rows(const std::string& path, const std::vector<Row>& rows);

}  // namespace thinwire::results
