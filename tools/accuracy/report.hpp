// The table as text.
#pragma once

#include <string>
#include <vector>

#include "tools/accuracy/comparison.hpp"

namespace thinwire::accuracy {

/// How it is written: aligned columns, Markdown, or a record a cell.
enum class TableFormat : std::uint8_t { table, markdown, csv, jsonl };

struct ReportSettings {
  TableFormat format = TableFormat::table;
  bool summary = false;  ///< leave the cells out
  std::string reference = "smpi";
  std::string judged = "links";
};

/// table and markdown: the cells, the errors by platform, pattern, size and ranks, the cells above
/// 10%, and what has no ratio. csv: the cells, or with `summary` the errors. jsonl: all of it.
[[nodiscard]] std::string report(const std::vector<CellComparison>& cells,
                                 const ReportSettings& settings);

}  // namespace thinwire::accuracy
