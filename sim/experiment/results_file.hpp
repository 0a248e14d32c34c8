// A results file that a sweep writes: rows are added one by one, and none is lost.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/experiment/row.hpp"

namespace thinwire {

/// Open and locked while it lives: no other sweep writes it, on this machine or on others that
/// share the file system.
class ResultsFile {
 public:
  /// Opens the file, or makes it; a line that was cut off is removed from its end. Throws
  /// InputError where it cannot be written, is being written by another process, or holds no rows
  /// of results.
  explicit ResultsFile(const std::string& path);
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;
  ResultsFile(ResultsFile&&) = delete;
  ResultsFile& operator=(ResultsFile&&) = delete;
  ~ResultsFile();

  /// What it held when it was opened.
  [[nodiscard]] const std::vector<Row>& rows_before() const { return before_; }
  /// Adds a line, whole or not at all. Throws SimulationError where it cannot be written.
  void append(const Row& row);
  /// Puts `rows` in the place of all that it holds, at once; then the file is closed. Throws
  /// SimulationError where that cannot be done, and leaves the file as it was.
  void replace(const std::vector<Row>& rows);

 private:
  void open_and_lock();
  void read_back();

  std::filesystem::path path_;
  int file_ = -1;
  std::vector<Row> before_;
};

/// The rows as lines of a results file.
[[nodiscard]] std::string lines_of(const std::vector<Row>& rows);
/// Writes the rows to a file, which holds either what it held before or all of them. Throws
/// InputError where it cannot be written.
void write_rows(const std::string& path, const std::vector<Row>& rows);

}  // namespace thinwire
