// Fills the table: runs what the results file does not hold yet, and keeps it there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/accuracy/comparison.hpp"

namespace thinwire::accuracy {

/// What is measured, and how.
struct TableSettings {
  std::vector<Cell> cells;
  Side reference = {};
  Side judged = {.network = "links"};
  bool run_reference = true;
  bool run_judged = true;
  bool force = false;   ///< run also what the results hold
  int jobs = 1;         ///< cells that run at once, each in a process of its own
  double limit_s = 60;  ///< wall-clock seconds for a cell on a network
  std::string output;   ///< the results
  /// Further results to take from, which are only read.
  std::vector<std::string> also = {};
  std::map<std::string, std::string> platforms = {};  ///< label to file
};

/// Runs what is missing, the cheapest first, adding each to the output as it ends, and tells on
/// stderr; then what was superseded goes from the output. Gives all cells in their order. Results
/// of the reference stay as long as SimGrid and the platform do; those of the judged network as
/// long as Thinwire's version does. Failed cells run again, and so do those that were too slow
/// where the limit has grown. The judged network alone is measured where the reference has a time.
///
/// Throws InputError where the output cannot be written or is no such file, and InterruptedError
/// after Ctrl-C or SIGTERM.
[[nodiscard]] std::vector<CellComparison> fill_table(const TableSettings& settings);

}  // namespace thinwire::accuracy
