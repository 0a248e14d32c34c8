// Fills the table: runs the cells that the results file lacks, and stores their results there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/accuracy/comparison.hpp"

namespace thinwire::accuracy {

/// The cells to measure, and how to measure them.
struct TableSettings {
  std::vector<Cell> cells;
  Side reference = {};
  Side judged = {.network = "links"};
  bool run_reference = true;
  bool run_judged = true;
  bool force = false;   ///< run also cells that the results already hold
  int jobs = 1;         ///< cells that run at once, each in its own process
  double limit_s = 60;  ///< wall-clock seconds for a cell on a network
  std::string output;   ///< the results file
  /// Further results files, which are only read.
  std::vector<std::string> also = {};
  std::map<std::string, std::string> platforms = {};  ///< platform file by label
};

/// Runs missing cells, the longest first, adds each to the output as it ends, and reports progress
/// on stderr; then superseded results are removed from the output. Returns all cells in order.
/// Results of the reference stay valid as long as SimGrid and the platform do; results of
/// the judged network as long as Thinwire's version does. Failed cells run again, and so do those that were
/// too slow if the limit has grown. The judged network runs only where the reference has a time.
///
/// Throws InputError if the output cannot be written or is another kind of file, and
/// InterruptedError after Ctrl-C or SIGTERM.
[[nodiscard]] std::vector<CellComparison> fill_table(const TableSettings& settings);

}  // namespace thinwire::accuracy
