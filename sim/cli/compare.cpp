#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "sim/cli/command.hpp"
#include "sim/core/errors.hpp"
#include "sim/experiment/compare.hpp"

namespace thinwire {

namespace {

struct CompareFlags {
  std::string results;
  std::vector<std::string> where;
  std::optional<double> tolerance;
  Format format = Format::table;
};

int run(const CompareFlags& flags) {
  const double tolerance = flags.tolerance.value_or(kExactTolerance);
  if (!(tolerance >= 0)) {
    throw InputError(
        fmt::format("--tolerance: {} is not right; wanted is a number from 0", tolerance));
  }
  RowsFile file = read_rows(flags.results);
  if (file.truncated) {
    fmt::print(stderr, "{}: the last line is not complete and is left out\n", flags.results);
  }
  if (file.rows.empty()) throw InputError(fmt::format("{}: holds no results", flags.results));
  file.rows = rows_where(std::move(file.rows), flags.where);
  fmt::print("{}", comparison_text(file.rows, tolerance, flags.format, Detail::full));
  bool gate_holds = !report_troubles(file.rows);
  if (!flags.tolerance) return 0;
  const auto off = std::ranges::count_if(file.rows, [&](const Row& row) {
    const Comparison comparison = compare(row, tolerance);
    return comparison.comparable && comparison.verdict == Verdict::off;
  });
  const auto unknown = std::ranges::count_if(file.rows, [&](const Row& row) {
    return row.outcome && row.point.workload.model.empty() && !compare(row, tolerance).comparable;
  });
  if (unknown > 0) {
    fmt::print(stderr, "{} of {} results cannot be compared: no formula knows gamma, L or o\n",
               unknown, file.rows.size());
    gate_holds = false;
  }
  const auto congested = std::ranges::count_if(file.rows, [&](const Row& row) {
    return compare(row, tolerance).verdict == Verdict::congested;
  });
  if (congested > 0) {
    fmt::print(stderr, "{} of {} results are of networks that congest, and are not judged\n",
               congested, file.rows.size());
  }
  if (off > 0) {
    fmt::print(stderr, "{} of {} results miss their formula by more than {}\n", off,
               file.rows.size(), tolerance);
    gate_holds = false;
  }
  return gate_holds ? 0 : kFailed;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App& command =
      *app.add_subcommand("compare", "Compare results with the formulas of their schemes");
  command.add_option("results", flags->results, "results of a sweep, or of run --format jsonl")
      ->required()
      ->option_text("RESULTS.jsonl");
  command
      .add_option("--where", flags->where,
                  "results of these only: a column and its values; may be given several times")
      ->option_text("KEY=VALUE[,VALUE]");
  command
      .add_option(
          "--tolerance", flags->tolerance,
          "gate: exit with 1 where a result misses an exact formula, or leaves an interval, by "
          "more than this share")
      ->option_text("SHARE");
  add_format(command, flags->format);
  command.footer(
      "formula_s counts messages and adds the lower-order terms that the papers leave out (size\n"
      "exchanges, remainders, folding), which lower_order_s gives apart; paper_s is the paper's "
      "own.\n"
      "Examples:\n"
      "  thinwire compare table1.jsonl --tolerance 1e-9\n"
      "  thinwire compare platforms.jsonl --where network=smpi --where "
      "platform=fat_tree,nvlink_ib");
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire
