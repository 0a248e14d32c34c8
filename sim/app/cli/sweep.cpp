#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/progress.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::cli {

namespace {

struct SweepFlags {
  std::string config;
  std::string output;
  std::string shard;
  bool dry_run = false;
  std::optional<std::int64_t> memory_mebibytes;
  std::vector<int> ranks;
  run::SweepOptions options;
  report::View view;
};

run::Shard shard_from(const std::string& text) {
  run::Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto of = std::from_chars(slash ? index.ptr + 1 : end, end, shard.of);
  if (!slash || of.ec != std::errc() || of.ptr != end || shard.index < 1 ||
      shard.index > shard.of) {
    throw InputError("--shard: '{}' is not valid; expected I/N with I from 1 to N, as in 2/8",
                     excerpt(text));
  }
  return shard;
}

std::string default_output(const std::string& sweep, const run::Shard& shard) {
  const std::string part =
      shard.of == 1 ? "" : fmt::format(".shard-{}-of-{}", shard.index, shard.of);
  return fmt::format("results/local/{}{}.jsonl", sweep, part);
}

/// Keeps the points on one of these numbers of ranks. Throws InputError if a number has none.
void keep_ranks(run::Sweep& sweep, const std::vector<int>& wanted, const std::string& config) {
  std::set<int> all;
  for (const plan::Point& point : sweep.points) all.insert(point.ranks);
  for (const int ranks : wanted) {
    if (!all.contains(ranks)) {
      throw InputError("--ranks {}: {} has points on {} ranks", ranks, config,
                       fmt::join(all, ", "));
    }
  }
  std::erase_if(sweep.points, [&](const plan::Point& point) {
    return std::ranges::find(wanted, point.ranks) == wanted.end();
  });
}

/// Prints the points and their estimated time.
int print_plan(const run::Sweep& sweep, const std::string& output, const SweepFlags& flags) {
  std::vector<results::Row> before;
  std::error_code ignored;
  if (std::filesystem::exists(output, ignored)) before = results::read_rows(output).rows;
  const std::vector<run::PlannedPoint> plan = run::plan_sweep(sweep, before, flags.options);
  std::vector<Json> records;
  double expected = 0;
  double longest = 0;
  std::size_t missing = 0;
  std::size_t skipped = 0;
  run::Skipping skipping;
  for (const run::PlannedPoint& planned : plan) {
    const plan::Point& point = sweep.points[planned.index];
    const std::string why = skipping.why(point);
    const bool runs = !planned.known && why.empty();
    if (!why.empty()) ++skipped;
    if (runs) {
      ++missing;
      expected += planned.expected_s;
      longest = std::max(longest, planned.expected_s);
    }
    records.push_back({{"point", name_of(point)},
                       {"key", plan::key_of(point)},
                       {"action", !why.empty() ? "skip"
                                  : runs       ? "run"
                                               : "reuse"},
                       {"expected_s", planned.expected_s},
                       {"basis", planned.took_before ? "measured" : "estimated"},
                       {"reason", why.empty() ? Json() : Json(why)}});
  }
  std::vector<report::Column> columns;
  report::add_columns(columns, {"point", "key", "action"});
  report::add_columns(columns, {"expected_s"});
  report::add_columns(columns, {"basis"});
  if (skipped > 0) report::add_columns(columns, {"reason"});
  fmt::print("{}", report::render(flags.view, records, columns));
  std::fflush(stdout);
  say("{} of {} points would run, in about {} with -j {}{}; results go to {}", missing, plan.size(),
      duration_text(std::max(longest, expected / flags.options.jobs)), flags.options.jobs,
      skipped == 0 ? "" : fmt::format("; {} would be skipped", skipped), output);
  return 0;
}

int run(SweepFlags& flags) {
  flags.config = run::kSweeps.file(flags.config);
  run::Sweep sweep = run::sweep_from(read_json(flags.config), flags.config);
  say_repeated(sweep.repeated, sweep.points);
  say_if_eager(sweep.points);
  if (!flags.ranks.empty()) keep_ranks(sweep, flags.ranks, flags.config);
  if (flags.memory_mebibytes) flags.options.limits.memory_bytes = *flags.memory_mebibytes << 20;
  if (!flags.shard.empty()) flags.options.shard = shard_from(flags.shard);
  const std::string output =
      flags.output.empty() ? default_output(sweep.name, flags.options.shard) : flags.output;
  if (flags.dry_run) {
    if (flags.view.format == report::Format::nccl || flags.view.format == report::Format::osu) {
      throw InputError(
          "--format: nccl and osu print times, but --dry-run has none; take table, markdown, csv, "
          "json or jsonl");
    }
    return print_plan(sweep, output, flags);
  }
  check_result_format(flags.view, sweep.points);
  prepare_for_packets(sweep.points, flags.config);
  std::size_t reused = 0;
  std::vector<results::Row> rows;
  {
    ProgressDisplay display;
    rows = run::run_sweep(sweep, output, flags.options, [&](const run::SweepProgress& progress) {
      reused = progress.reused;
      display.show(progress);
    });
  }
  fmt::print("{}", report::comparison_text(rows, kExactTolerance, flags.view));
  const bool failed = report_troubles(rows);
  say("{} points ({} of them were there already) in {}", rows.size(), reused, output);
  return failed ? kFailed : 0;
}

}  // namespace

void add_sweep(Command& app) {
  auto flags = std::make_shared<SweepFlags>();
  Command command = app.add_subcommand(
      "sweep", "Simulate every point of a grid and compare them with their formulas");
  command
      .add_option("sweep", flags->config,
                  "JSON file with the sweep, or the name of a shipped one: table1")
      .required()
      .value_text("CONFIG.json");
  command.add_option("-o,--output", flags->output, "results, one JSON object per line")
      .value_text("FILE [results/local/NAME.jsonl]");
  add_jobs(command, flags->options.jobs, "points");
  command.add_flag("--force", flags->options.force,
                   "run all points, including those that the results hold");
  command.add_flag("--dry-run", flags->dry_run,
                   "print the points and their estimated time, and run nothing");
  command
      .add_option("--shard", flags->shard,
                  "run part I of N of the sweep; 'thinwire merge' merges the parts")
      .value_text("I/N");
  command
      .add_option("--ranks", flags->ranks,
                  "run only the points on these numbers of ranks; a later run without it adds the "
                  "others")
      .commas()
      .value_text("N[,N]");
  command
      .add_option("--time-limit", flags->options.limits.seconds,
                  "wall-clock seconds per point; a point that exceeds them fails")
      .positive()
      .unit("s")
      .value_text("SECONDS");
  add_memory_limit(command, flags->memory_mebibytes);
  add_result_format(command, flags->view);
  command.first({"--output", "--dry-run", "--jobs", "--ranks", "--shard", "--force", "--format"});
  command.footer(
      "A point is written as soon as it ends, the longest points run first. If the sweep is\n"
      "killed, no finished point is lost: the same command later runs only points that are\n"
      "missing, failed, or come from another version of the simulator.\n"
      "On many machines, one part each (tools/slurm does it as an array job):\n"
      "  thinwire sweep big.json --shard 2/8 -o part2.jsonl\n"
      "  thinwire merge part*.jsonl -o big.jsonl\n"
      "Example: thinwire sweep sweeps/table1.json -o table1.jsonl");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
