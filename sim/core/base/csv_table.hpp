// Reads tables of comma-separated values (RFC 4180) whose first line names the columns. Error
// messages name the file, the line and the column of the text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/base/checked.hpp"

namespace thinwire::inline base {

/// Throws InputError: "PATH:LINE:COLUMN: what". Lines and columns count from 1, columns in bytes.
[[noreturn]] void refuse_at(const std::string& path, int line, std::size_t column,
                            const std::string& what);

/// A table in memory. Cells may be quoted; a quoted cell may contain commas, quotes as "" and line
/// ends. Lines that are empty, or begin with '#' in place of a first cell, are left out.
class CsvTable {
 public:
  /// Throws InputError where a quote is not closed, a line has another number of cells than the
  /// first one, or two columns have the same name. `path` is for messages.
  CsvTable(std::string_view text, std::string path);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] bool has(const std::string& column) const { return columns_.contains(column); }
  /// Throws InputError naming the first column that the table lacks.
  void require(const std::vector<std::string>& columns) const;

  /// The cells below throw InputError where the table has no such column.
  [[nodiscard]] const std::string& text(std::size_t row, const std::string& column) const;
  /// A finite number.
  [[nodiscard]] double number(std::size_t row, const std::string& column,
                              const std::string& wanted) const;
  /// A whole number from `least` to `most`.
  [[nodiscard]] std::int64_t whole(std::size_t row, const std::string& column, std::int64_t least,
                                   std::int64_t most = kLargestSize) const;
  /// Throws InputError: "PATH:LINE:COLUMN: what", of a cell.
  [[noreturn]] void refuse(std::size_t row, const std::string& column,
                           const std::string& what) const;
  /// Throws InputError: the cell is not what is wanted.
  [[noreturn]] void wrong(std::size_t row, const std::string& column,
                          const std::string& wanted) const;
  /// "PATH:LINE".
  [[nodiscard]] std::string place(std::size_t row) const;

 private:
  struct Cell {
    std::string text;
    int line = 1;
    std::size_t column = 1;
  };

  [[nodiscard]] const Cell& cell(std::size_t row, const std::string& column) const;

  std::string path_;
  int header_line_ = 1;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace thinwire::inline base
