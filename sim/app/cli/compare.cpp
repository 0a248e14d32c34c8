#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/baseline.hpp"
#include "sim/app/report/tables/beside_measured.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::cli {

namespace {

struct CompareFlags {
  std::vector<std::string> results;
  std::vector<std::string> where;
  std::string group_by;
  std::string sort_by;
  bool beside_measured = false;
  std::vector<std::string> baseline;
  std::optional<double> tolerance;
  report::View view;
};

/// A result row and its record.
struct Result {
  results::Row row;
  Json record;
};

std::vector<Json> records_of(const std::vector<Result>& results) {
  std::vector<Json> records;
  for (const Result& result : results) records.push_back(result.record);
  return records;
}

/// Sorts by a column of the records; `record_of` returns the record of an element. Those
/// that select far from k come last in an order of times.
template <class T, class RecordOf>
void sort_by(std::vector<T>& all, const std::string& name, RecordOf record_of) {
  if (name.empty()) return;
  std::vector<Json> records;
  for (const T& one : all) records.push_back(record_of(one));
  const std::string column = report::key_of_name("--sort-by", name, report::columns_of(records));
  const auto value = [&](const T& one) {
    const Json& record = record_of(one);
    return record.contains(column) ? record.at(column) : Json();
  };
  const bool by_time = column.starts_with("training.") ||
                       (column.starts_with("time_") && column != "time_resolution_s");
  std::ranges::stable_sort(all, [&](const T& a, const T& b) {
    const bool far_a = by_time && report::selects_far_from_k(record_of(a));
    const bool far_b = by_time && report::selects_far_from_k(record_of(b));
    return far_a != far_b ? far_b : report::comes_before(value(a), value(b));
  });
}

std::string groups_text(const std::vector<Result>& results, const CompareFlags& flags) {
  const std::vector<Json> records = records_of(results);
  const std::vector<std::string> known = report::columns_of(records);
  std::vector<std::string> by;
  for (const std::string& name : split(flags.group_by)) {
    by.push_back(report::key_of_name("--group-by", name, known));
  }
  std::vector<Json> groups = report::group_records(records, by);
  sort_by(groups, flags.sort_by, [](const Json& g) -> const Json& { return g; });
  return render(flags.view, groups, report::group_columns(groups, by));
}

/// Prints measured times beside simulated ones.
int print_beside_measured(const CompareFlags& flags) {
  const std::vector<results::Row> rows = rows_where(read_results(flags.results), flags.where);
  std::vector<Json> records = report::beside_measured(rows);
  if (records.empty()) {
    throw InputError(
        "--beside-measured: no result is measured; 'mpirun -n P thinwire measure -o FILE' makes "
        "some");
  }
  sort_by(records, flags.sort_by, [](const Json& r) -> const Json& { return r; });
  fmt::print("{}", render(flags.view, records, report::beside_measured_columns()));
  return report_troubles(rows) ? kFailed : 0;
}

/// Prints the ratios of results to a baseline.
int print_against_baseline(const CompareFlags& flags, double tolerance) {
  const std::vector<results::Row> rows = rows_where(read_results(flags.results), flags.where);
  // A point that the conditions exclude is not missing.
  const std::vector<results::Row> before = rows_where(read_results(flags.baseline), flags.where);
  std::vector<Json> records = report::baseline_records(rows, before, tolerance);
  const auto without = std::ranges::count_if(records, [](const Json& record) {
    return record.at("change") == "new" || record.at("change") == "missing";
  });
  if (without == std::ssize(records)) {
    throw InputError("--baseline: {} has no point of {}", fmt::join(flags.baseline, ", "),
                     fmt::join(flags.results, ", "));
  }
  sort_by(records, flags.sort_by, [](const Json& r) -> const Json& { return r; });
  const std::vector<report::Column> columns = report::baseline_columns(records);
  for (Json& record : records) {
    if (!report::for_people(flags.view.format)) record.erase("settings");
  }
  fmt::print("{}", render(flags.view, records, columns));
  static_cast<void>(report_troubles(rows));
  const auto stopped = std::ranges::count_if(
      records, [](const Json& record) { return !report::passes_gate(record); });
  if (stopped == 0) return 0;
  say("{} of {} points are missing, failed, or differ from the baseline by more than {}", stopped,
      records.size(), tolerance);
  return flags.tolerance ? kFailed : 0;
}

int run(const CompareFlags& flags) {
  if (flags.beside_measured) return print_beside_measured(flags);
  const double tolerance = flags.tolerance.value_or(kExactTolerance);
  if (!(tolerance >= 0)) {
    throw InputError("--tolerance: {} is not valid; expected a number from 0", tolerance);
  }
  if (!flags.baseline.empty()) return print_against_baseline(flags, tolerance);
  std::vector<Result> results;
  std::vector<results::Row> read = rows_where(read_results(flags.results), flags.where);
  std::vector<Json> records = report::comparison_records(read, tolerance);
  for (std::size_t i = 0; i < read.size(); ++i) {
    results.push_back({.row = std::move(read[i]), .record = std::move(records[i])});
  }
  const bool grouped = !flags.group_by.empty();
  if (!grouped) {
    sort_by(results, flags.sort_by, [](const Result& r) -> const Json& { return r.record; });
  }
  std::vector<results::Row> rows;
  for (const Result& result : results) rows.push_back(result.row);
  fmt::print("{}", grouped ? groups_text(results, flags)
                           : report::comparison_text(rows, tolerance, flags.view));
  bool passed = !report_troubles(rows);
  if (!flags.tolerance) return 0;
  int off = 0;
  int unjudged = 0;
  std::map<std::string, int> incomparable;  // by the reason
  for (const results::Row& row : rows) {
    if (!row.outcome) continue;
    const results::Comparison comparison = compare(row, tolerance);
    if (!comparison.comparable()) {
      ++incomparable[comparison.incomparable];
    } else if (comparison.changed_by_network) {
      ++unjudged;
    } else if (comparison.misses) {
      ++off;
    }
  }
  for (const auto& [why, count] : incomparable) {
    say("{} of {} results cannot be compared: {}", count, rows.size(), why);
    passed = false;
  }
  if (unjudged > 0) {
    say("{} of {} results differ from the α-β machine by their network, and are not judged",
        unjudged, rows.size());
  }
  if (off > 0) {
    say("{} of {} results miss their formula by more than {}", off, rows.size(), tolerance);
    passed = false;
  }
  return passed ? 0 : kFailed;
}

}  // namespace

void add_compare(Command& app) {
  auto flags = std::make_shared<CompareFlags>();
  Command command =
      app.add_subcommand("compare", "Compare results with the formulas of their schemes");
  command
      .add_option("results", flags->results,
                  "results of sweeps, or of run --format jsonl; the same point twice counts once")
      .required()
      .value_text("RESULTS.jsonl...");
  command
      .add_option("--where", flags->where,
                  "only results with these values in a column; may be given several times")
      .value_text("KEY=VALUE[,VALUE]");
  const Option group_by =
      command
          .add_option(
              "--group-by", flags->group_by,
              "one row per group of results that agree in these columns: their number, and the "
              "median, minimum and maximum of their times, ratios and congestion factors")
          .value_text("COLUMN[,COLUMN]");
  command.add_option("--sort-by", flags->sort_by, "sort by this column, ascending")
      .value_text("COLUMN");
  Option beside = command.add_flag(
      "--beside-measured", flags->beside_measured,
      "one row per measured result and simulated result of the same point, with their ratio");
  beside.excludes(group_by);
  command
      .add_option("--baseline", flags->baseline,
                  "results of an earlier version: one row per point, with the ratios of its time, "
                  "words and messages to the baseline")
      .excludes(group_by)
      .excludes(beside)
      .value_text("OLD.jsonl");
  command
      .add_option(
          "--tolerance", flags->tolerance,
          "exit with 1 if a result differs from an exact formula, or lies outside an interval, by "
          "more than this share; with --baseline, if it differs from the baseline by more")
      .excludes(beside)
      .value_text("SHARE");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "ratio is the time over the paper's formula as printed, at its upper and lower end. --wide\n"
      "adds that formula (paper), the terms that the paper leaves out (added: size exchanges,\n"
      "remainders, folding in) and the formula with them, which counts messages (formula).\n"
      "Verdicts are about the latter:\n"
      "  exact, inside, OFF   the time equals the formula, lies in its interval, or neither\n"
      "  above                it lies in the interval, but above the paper's upper bound by 0.1%\n"
      "  selection            the ranks select less than half of k or more than twice as much\n"
      "  congested, faster    slower or faster than without shared links, or than the formula, as\n"
      "                       latencies overlap; not judged\n"
      "over_best is the time over the time of the fastest row that differs in its scheme alone.\n"
      "Examples:\n"
      "  thinwire compare table1.jsonl --tolerance 1e-9\n"
      "  thinwire compare new.jsonl --baseline old.jsonl --tolerance 0.01\n"
      "  thinwire compare table1.jsonl --where ranks=256 --sort-by time_mean --format markdown\n"
      "  thinwire compare a.jsonl b.jsonl --group-by scheme,ranks --sort-by time_mean_median");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
