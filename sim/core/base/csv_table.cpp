#include "sim/core/base/csv_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::inline base {

void refuse_at(const std::string& path, int line, std::size_t column, const std::string& what) {
  throw InputError("{}:{}:{}: {}", path, line, column, what);
}

CsvTable::CsvTable(std::string_view text, std::string path) : path_(std::move(path)) {
  text = without_byte_order_mark(text);
  std::size_t at = 0;
  std::size_t line_begin = 0;
  int line = 1;
  const auto end_line = [&] {
    if (text.substr(at).starts_with("\r\n")) ++at;
    ++at;
    ++line;
    line_begin = at;
  };
  const auto at_end_of_line = [&] {
    return at >= text.size() || text[at] == '\n' || text.substr(at).starts_with("\r\n");
  };
  const auto quoted_cell = [&](Cell& cell) {
    for (++at;; ++at) {
      if (at >= text.size()) refuse_at(path_, cell.line, cell.column, "this quote is not closed");
      if (text[at] == '"') {
        ++at;
        if (at >= text.size() || text[at] != '"') return;
      }
      cell.text += text[at];
      if (text[at] == '\n') {
        ++line;
        line_begin = at + 1;
      }
    }
  };
  std::vector<Cell> header;
  while (at < text.size()) {
    if (at_end_of_line()) {
      end_line();
      continue;
    }
    if (text[at] == '#') {
      while (!at_end_of_line()) ++at;
      end_line();
      continue;
    }
    std::vector<Cell> cells;
    while (true) {
      Cell& cell = cells.emplace_back(Cell{{}, line, at - line_begin + 1});
      if (at < text.size() && text[at] == '"') quoted_cell(cell);
      while (!at_end_of_line() && text[at] != ',') cell.text += text[at++];
      if (at_end_of_line()) break;
      ++at;
    }
    const Cell last = cells.back();
    const std::size_t after = at - line_begin + 1;
    end_line();
    if (header.empty()) {
      header = std::move(cells);
      header_line_ = header.front().line;
      for (std::size_t i = 0; i < header.size(); ++i) {
        if (columns_.emplace(header[i].text, i).second) continue;
        refuse_at(path_, header[i].line, header[i].column,
                  fmt::format("the column '{}' comes twice", excerpt(header[i].text)));
      }
      continue;
    }
    if (cells.size() != header.size()) {
      const bool more = cells.size() > header.size();
      refuse_at(path_, last.line, more ? cells[header.size()].column : after,
                fmt::format("the line has {} cells, and the first line names {} columns",
                            cells.size(), header.size()));
    }
    rows_.push_back(std::move(cells));
  }
}

void CsvTable::require(const std::vector<std::string>& columns) const {
  for (const std::string& column : columns) {
    if (has(column)) continue;
    std::vector<std::string> known;
    for (const auto& [name, index] : columns_) known.push_back(name);
    refuse_at(
        path_, header_line_, 1,
        fmt::format("there is no column '{}'{}", excerpt(column), did_you_mean(column, known)));
  }
}

const CsvTable::Cell& CsvTable::cell(std::size_t row, const std::string& column) const {
  require({column});
  return rows_.at(row)[columns_.at(column)];
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
  return cell(row, column).text;
}

void CsvTable::refuse(std::size_t row, const std::string& column, const std::string& what) const {
  const Cell& at = cell(row, column);
  refuse_at(path_, at.line, at.column, what);
}

void CsvTable::wrong(std::size_t row, const std::string& column, const std::string& wanted) const {
  refuse(row, column,
         fmt::format("{}: '{}' is not valid; expected {}", column, excerpt(text(row, column)),
                     wanted));
}

double CsvTable::number(std::size_t row, const std::string& column,
                        const std::string& wanted) const {
  const auto value = parse_number<double>(text(row, column));
  if (!value || !std::isfinite(*value)) wrong(row, column, wanted);
  return *value;
}

std::int64_t CsvTable::whole(std::size_t row, const std::string& column, std::int64_t least,
                             std::int64_t most) const {
  const auto value = parse_number<std::int64_t>(text(row, column));
  if (value && *value >= least && *value <= most) return *value;
  wrong(row, column, fmt::format("a whole number from {} to {}", least, most));
}

std::string CsvTable::place(std::size_t row) const {
  return fmt::format("{}:{}", path_, rows_.at(row).front().line);
}

}  // namespace thinwire::inline base
