// Measures how long it takes to read the rows of results files, and to compare them with formulas.
//
// bench_results FILE.jsonl... prints for each file the number of rows and milliseconds of processor
// time per row: to read it, to compare it with its formula, and to make a record of CSV of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "sim/app/report/tables/records.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire {

namespace {

/// Milliseconds of processor time of a call; the least of several.
double milliseconds_of(const std::function<void()>& call) {
  constexpr int kTimes = 3;
  double least = 0;
  for (int i = 0; i < kTimes; ++i) {
    const std::clock_t begin = std::clock();
    call();
    const double taken = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = i == 0 ? taken : std::min(least, taken);
  }
  return least;
}

void measure(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<results::Row> rows;
  std::vector<results::Comparison> comparisons;
  std::vector<Json> records;
  const double read = milliseconds_of([&] { rows = results::rows_from(text, path).rows; });
  const double compared = milliseconds_of([&] {
    comparisons.clear();
    for (const results::Row& row : rows) comparisons.push_back(compare(row, 1e-9));
  });
  const double recorded = milliseconds_of([&] {
    records.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      records.push_back(report::record_of(rows[i], comparisons[i]));
    }
  });
  const auto count = static_cast<double>(std::max<std::size_t>(1, rows.size()));
  fmt::print("{:>6} {:>9.4f} {:>9.4f} {:>9.4f}  {}\n", rows.size(), read / count, compared / count,
             recorded / count, path);
}

}  // namespace

}  // namespace thinwire

int main(int argc, char** argv) {
  try {
    fmt::print("  rows   read_ms compare_ms record_ms  file\n");
    for (int i = 1; i < argc; ++i) thinwire::measure(argv[i]);
    return 0;
  } catch (const std::exception& error) {
    static_cast<void>(std::fputs(error.what(), stderr));
    return 1;
  }
}
