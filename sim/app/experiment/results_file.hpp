// A results file that a sweep writes: rows are added one by one, and none is lost.
#pragma once

#include <string>
#include <vector>

#include "sim/app/experiment/lines_file.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::experiment {

/// Open and locked while it lives: no other sweep writes it, on this machine or on others that
/// share the file system.
class ResultsFile {
 public:
  /// Opens the file, or makes it; a line that was cut off is removed from its end. Throws
  /// InputError where it cannot be written, is being written by another process, or holds no rows
  /// of results.
  explicit ResultsFile(const std::string& path);

  /// What it held when it was opened.
  [[nodiscard]] const std::vector<Row>& rows_before() const { return before_; }
  /// Adds a line, whole or not at all. Throws SimulationError where it cannot be written.
  void append(const Row& row);
  /// Puts `rows` in the place of all that it holds, at once; then the file is closed. Throws
  /// SimulationError where that cannot be done, and leaves the file as it was.
  void replace(const std::vector<Row>& rows);

 private:
  std::vector<Row> before_;
  LinesFile file_;
};

/// The rows as lines of a results file.
[[nodiscard]] std::string lines_of(const std::vector<Row>& rows);
/// Writes the rows to a file, which holds either what it held before or all of them. Throws
/// InputError where it cannot be written.
void write_rows(const std::string& path, const std::vector<Row>& rows);

}  // namespace thinwire::experiment
