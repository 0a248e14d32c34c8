// Formats the table as text.
#pragma once

#include <string>
#include <vector>

#include "tools/accuracy/comparison.hpp"

namespace thinwire::accuracy {

/// The format: aligned columns, Markdown, or one record per cell.
enum class TableFormat : std::uint8_t { table, markdown, csv, jsonl };

struct ReportSettings {
  TableFormat format = TableFormat::table;
  bool summary = false;  ///< omit the cells
  std::string reference = "smpi";
  std::string judged = "links";
};

/// table and markdown: the cells, the errors by platform, pattern, size and ranks, the cells above
/// 10%, and those without a ratio. csv: the cells, or with `summary` the errors. jsonl: all of it.
[[nodiscard]] std::string report(const std::vector<CellComparison>& cells,
                                 const ReportSettings& settings);

}  // namespace thinwire::accuracy
