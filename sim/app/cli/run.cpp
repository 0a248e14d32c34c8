#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/replay.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/sizes.hpp"
#include "sim/app/cli/timeline_flags.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::cli {

namespace {

struct RunFlags {
  std::string config;
  Json given = Json::object();        // by dotted path, over the config
  std::vector<std::string> settings;  // KEY=VALUE, over both
  report::View view;
  bool phases = false;
  std::optional<std::int64_t> memory_mebibytes;
  TimelineFlags timeline;
  ScheduleFlags schedule;
  SizeFlags sizes;
  std::optional<int> jobs;
  bool verbose = false;
  bool strict = false;
};

/// A table of the records' own keys.
std::string plain_table(const std::vector<Json>& records, const char* name,
                        std::initializer_list<const char*> numbers) {
  std::vector<report::Column> columns;
  report::add_columns(columns, {name});
  report::add_columns(columns, numbers);
  return to_table(records, columns);
}

std::string phases_text(const Json& result) {
  return plain_table(result.at("phases"), "name",
                     {"time_s_max", "words_received_max", "messages_received_max"});
}

std::string ranks_text(const Json& result) {
  return plain_table(
      result.at("by_rank"), "phase",
      {"rank", "time_s", "words_sent", "words_received", "messages_sent", "messages_received"});
}

std::string links_text(const Json& result, std::size_t most) {
  const Json& links = result.at("links");
  if (links.is_null()) return "no link carried anything\n";
  const std::size_t shown = std::min(most, links.size());
  const std::vector<Json> hottest(links.begin(),
                                  links.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = plain_table(
      hottest, "name", {"bandwidth_bytes_per_s", "bytes", "utilisation_mean", "utilisation_peak"});
  if (shown < links.size()) {
    text += fmt::format("({} more links carried something; --format jsonl holds all)\n",
                        links.size() - shown);
  }
  return text;
}

/// What the ranks selected, how far that is from k, and what work it was.
std::string selection_text(const results::Row& row) {
  const results::SelectionSummary& selection = *row.outcome->selection;
  std::vector<std::string> work;
  for (const auto& [name, kind] : algorithms::kWorkKinds) {
    work.push_back(fmt::format("{} {}", name, selection.work.*kind));
  }
  const bool together = row.point.scheme->selects_together;
  return fmt::format(
      "selected by {} of {} ranks: {} a rank, {} in all, {:+.2f}% from k = {}{}; most work of a "
      "rank: {}",
      selection.ranks, row.point.ranks, report::interval_text(selection.least, selection.most),
      selection.total, 100 * selection.deviation(row.point.k, together), row.point.k,
      together ? " in all" : "", fmt::join(work, ", "));
}

/// What the flags ask for beyond the table. Beside a table it belongs to the output; beside data it
/// would spoil it. Rows as jsonl hold ranks and links already.
void print_details(const RunFlags& flags, const results::Row& row) {
  constexpr std::size_t kHottest = 10;
  const bool rows = flags.view.format == report::Format::jsonl;
  const Json result = to_json(row).at("result");
  std::string text;
  if (flags.phases) {
    text += '\n' + phases_text(result);
    if (row.outcome->selection) text += '\n' + selection_text(row) + '\n';
  }
  if (!rows && row.point.record.ranks) text += '\n' + ranks_text(result);
  if (!rows && row.point.record.links) text += '\n' + links_text(result, kHottest);
  std::FILE* const to = report::for_people(flags.view.format) ? stdout : stderr;
  static_cast<void>(std::fputs(text.c_str(), to));
}

/// A schedule has no formula, no phases and no timeline.
int run_foreign(const RunFlags& flags) {
  const auto refuse = [](const char* flag) {
    throw InputError("{}: not for a schedule (--goal, --chakra); leave it out", flag);
  };
  if (!flags.config.empty()) refuse("--config");
  if (flags.phases) refuse("--phases");
  if (!flags.timeline.file.empty()) refuse("--timeline");
  if (flags.memory_mebibytes) refuse("--memory-limit");
  if (flags.jobs) refuse("-j");
  if (flags.sizes.any()) refuse("--sizes, -b, -e, -f");
  return run_schedule(flags.schedule, flags.given, flags.settings, flags.verbose, flags.view);
}

int run(const RunFlags& flags) {
  if (!flags.view.columns.empty() && flags.view.format == report::Format::jsonl) {
    throw InputError(
        "--columns: jsonl prints whole rows, as a results file has them; take json or csv");
  }
  if (flags.schedule.any()) return run_foreign(flags);
  Json given = flags.given;
  if (flags.sizes.any()) {
    if (given.contains("components")) {
      throw InputError("-n: -b and -e or --sizes already give the sizes; leave one of them out");
    }
    given["components"] = components_of(flags.sizes);
  }
  const Asked asked = asked_of(flags.config, given, flags.settings, {},
                               flags.strict ? Unread::refused : Unread::noted);
  const std::vector<plan::Point>& points = asked.points;
  check_result_format(flags.view, points);
  prepare_for_packets(points, flags.config);
  check_output(flags.timeline.file, {flags.config});
  if (points.size() > 1 && !flags.timeline.file.empty()) {
    throw InputError("--timeline: one run has one timeline; give each flag one value");
  }
  if (flags.jobs && !flags.timeline.file.empty()) {
    throw InputError("-j: one process records a timeline; leave one of the two out");
  }
  run::ProcessSettings settings{.at_once = flags.jobs.value_or(default_processes()),
                                .verbose = flags.verbose};
  if (flags.memory_mebibytes) settings.limits.memory_bytes = *flags.memory_mebibytes << 20;
  std::vector<results::Row> rows;
  const auto take = [&](results::Row row) {
    row.unused = asked.unused;
    rows.push_back(std::move(row));
    if (flags.view.format == report::Format::jsonl) fmt::print("{}\n", to_json(rows.back()).dump());
  };
  std::exception_ptr interrupted;
  if (flags.timeline.file.empty()) {
    try {
      run::simulate_points("run", points, settings, take);
    } catch (const InterruptedError&) {
      if (rows.empty()) throw;
      interrupted = std::current_exception();
    }
  } else {
    take(row_with_timeline(flags.timeline, points.front(), settings));
  }
  if (flags.view.format != report::Format::jsonl) {
    fmt::print("{}", report::comparison_text(rows, kExactTolerance, flags.view));
  }
  const bool details = flags.phases || points.front().record.ranks || points.front().record.links;
  for (const results::Row& row : rows) {
    if (!row.outcome || !details) continue;
    if (rows.size() > 1 && report::for_people(flags.view.format)) {
      fmt::print("\n{}:\n", name_of(row.point));
    }
    print_details(flags, row);
  }
  if (interrupted) std::rethrow_exception(interrupted);
  return report_troubles(rows) ? kFailed : 0;
}

}  // namespace

void add_run(Command& app) {
  auto flags = std::make_shared<RunFlags>();
  Command command =
      app.add_subcommand("run", "Simulate a point, or several, and compare each with its formula");
  command.add_option("--config", flags->config, "JSON file with the point; flags override it")
      .value_text("FILE");
  add_setting_flags(command, flags->given);
  add_size_flags(command, flags->sizes);
  command
      .add_option("--set", flags->settings,
                  "any other key of a point: --set options.tau=32 --set granule=1")
      .value_text("KEY=VALUE");
  command.add_flag("--phases", flags->phases, "print what each phase of the scheme cost");
  add_timeline_flags(command, flags->timeline);
  add_schedule_flags(command, flags->schedule, ScheduleUse::read);
  add_memory_limit(command, flags->memory_mebibytes);
  command
      .add_option("-j,--jobs", flags->jobs,
                  "processes that run at once: points, or the iterations of a single point. No "
                  "result depends on it")
      .positive()
      .value_text(fmt::format("N [{}]", default_processes()));
  command.add_flag("--strict", flags->strict,
                   "refuse flags that nothing reads; by default they are noted");
  command.add_flag("--verbose", flags->verbose, "let SimGrid's log through to stderr");
  add_result_format(command, flags->view);
  command.first({"--scheme", "--ranks", "--components", "--density", "--network", "--platform",
                 "--model", "--device", "--phases", "--format"});
  command.footer(
      "Numbers may be 25.5M, 1e6, 1% or 2us, and lists, as schemes, networks and platforms may:\n"
      "-P 8,16,32 --scheme topka,oktopk runs every combination. -b, -e and -f give sizes as\n"
      "nccl-tests do: -b 1K -e 1G -f 4, from 1024 to 2^30 bytes, each four times the last.\n"
      "jsonl prints rows of a results file, which 'thinwire compare' reads.\n"
      "Examples:\n"
      "  thinwire run --scheme oktopk -P 256 -n 133547324 -d 0.01 --phases\n"
      "  thinwire run --scheme oktopk -P 1024 --profile bert --statistical\n"
      "  thinwire run --scheme oktopk -P 256 --model bert --device p100 --staging\n"
      "  thinwire run --scheme oktopk -P 256 --network links --platform fat_tree --links\n"
      "  thinwire run --network alphabeta,links --platform fat_tree -P 64 --scheme topka,oktopk\n"
      "  thinwire run --scheme oktopk -P 64 --timeline oktopk.json\n"
      "  thinwire run --goal foreign.goal --network links --platform fat_tree");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
