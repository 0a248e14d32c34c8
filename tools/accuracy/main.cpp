// Measures the accuracy of a fast network against SimGrid: the table of results/links/.
//
//   links_accuracy [-o FILE] [--only smpi|links] [--set KEY=VALUE ...] [--patterns ...] ...
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/cli/command_line.hpp"
#include "sim/app/cli/points.hpp"
#include "sim/app/cli/program.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"
#include "tools/accuracy/report.hpp"
#include "tools/accuracy/table.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::accuracy;

struct Flags {
  Axes axes = all_axes();
  TableSettings table;
  std::vector<std::string> settings;
  std::string only = "both";
  bool packets = false;
  bool gate = false;
  ReportSettings report;
};

/// Selects the cells that ns-3's packets can run: Gigabit Ethernet in one zone, few ranks.
void choose_packets(Flags& flags) {
  flags.axes.platforms = {"gige_star"};
  flags.axes.ranks = {16};
  flags.table.reference.settings["packets"] = true;
  flags.report.reference = "packets";
}

int run(Flags& flags) {
  TableSettings& table = flags.table;
  if (flags.packets) choose_packets(flags);
  check_axes(flags.axes);
  table.cells = cells_of(flags.axes);
  for (const auto& [key, text] :
       cli::settings_from("--set", flags.settings, Json::object(), "chunk_bytes=65536")) {
    table.judged.settings[key] = cli::value_from(key, text);
  }
  flags.report.judged = table.judged.network;
  if (flags.only != "both" && flags.only != "smpi" && flags.only != table.judged.network) {
    throw InputError("--only: '{}' is not valid; expected smpi or {}", flags.only,
                     table.judged.network);
  }
  table.run_reference = flags.only == "both" || flags.only == "smpi";
  table.run_judged = flags.only != "smpi";
  if (table.run_judged) static_cast<void>(plan::find_network(table.judged.network));
  if (table.reference == table.judged) {
    throw InputError("--network: smpi would be judged by itself; change it with --set");
  }

  if (flags.packets) {
    plan::Point packets;
    packets.packets = true;
    cli::prepare_for_packets({packets}, {});
  }
  std::string folder = (std::filesystem::temp_directory_path() / "links_accuracy-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw InputError("{}: cannot be made; set TMPDIR to a folder with room", folder);
  }
  const std::shared_ptr<void> removed_in_the_end(nullptr, [&folder](void* /*nothing*/) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  table.platforms = write_platforms(folder);
  if (flags.packets) table.platforms["gige_star"] = topologies::kPlatforms.file("gige_star");
  const std::vector<CellComparison> cells = fill_table(table);
  fmt::print("{}", accuracy::report(cells, flags.report));
  if (std::fflush(stdout) != 0) throw SimulationError("stdout: cannot be written");

  const bool failed =
      std::ranges::any_of(cells, [](const CellComparison& one) { return one.status == "failed"; });
  const std::vector<ErrorGroup> groups = error_groups(cells);
  const bool accurate = !groups.empty() && groups.front().errors.median <= kWantedMedian &&
                        groups.front().errors.percentile <= kLargeError;
  if (flags.gate && !accurate) {
    fmt::print(stderr, "the median error is above {:g}% or the 90th percentile above {:g}%\n",
               100 * kWantedMedian, 100 * kLargeError);
  }
  return failed || (flags.gate && !accurate) ? cli::kFailed : 0;
}

void add_flags(cli::Command& command, Flags& flags) {
  TableSettings& table = flags.table;
  table.output = "results/local/accuracy.jsonl";
  command
      .add_option("-o,--output", table.output,
                  "measurements, one JSON object a line; what it holds is not measured again")
      .show_default();
  command.add_option("--also", table.also,
                     "further measurements to take from, which are only read: a copy that another "
                     "run is writing, say");
  command.add_option("--network", table.judged.network, "the network that is judged")
      .show_default();
  command.add_option(
      "--set", flags.settings,
      "KEY=VALUE of a point, for the judged network: variants are kept side by side");
  command.add_option("--only", flags.only, "measure this network alone: smpi, or the judged one");
  command.add_option("--patterns", flags.axes.patterns, "patterns and schemes [all]").commas();
  command.add_option("--platforms", flags.axes.platforms, "platforms of the table [all]").commas();
  command.add_option("-P,--ranks", flags.axes.ranks, "numbers of ranks [16,64,256,512]").commas();
  command.add_option("--sizes", flags.axes.sizes, "1kB, 64kB, 4MB, unequal [all]").commas();
  command.add_option("--placement", flags.axes.placement, "block, round_robin or random:SEED")
      .show_default();
  command.add_flag("--packets", flags.packets,
                   "judge by ns-3's packets instead: 16 ranks on gige_star");
  cli::add_jobs(command, table.jobs, "cells");
  command
      .add_option(
          "--time-limit", table.limit_s,
          "wall-clock seconds for a cell on a network; beyond them it is recorded as too slow")
      .positive()
      .show_default();
  command.add_flag("--force", table.force, "measure also what is there already");
  command.add_flag("--summary", flags.report.summary, "leave the cells out of the table");
  command.add_flag("--gate", flags.gate,
                   "exit with 1 where the median error is above 3% or the 90th percentile above "
                   "10%");
  command
      .add_choice<TableFormat>("--format", flags.report.format,
                               {{"table", TableFormat::table},
                                {"markdown", TableFormat::markdown},
                                {"csv", TableFormat::csv},
                                {"jsonl", TableFormat::jsonl}},
                               "table, markdown, csv or jsonl [table]")
      .value_text("FORMAT");
  command.footer(
      "Cells run in child processes, the longest first, and are kept as they end: the same "
      "command\n"
      "goes on later. SimGrid's times stay when Thinwire changes; the judged network is measured\n"
      "anew by every version of it.\n"
      "Example: links_accuracy -o results/links/accuracy.jsonl --only links --summary");
}

}  // namespace

int main(int argc, char** argv) {
  return cli::exit_code_of("links_accuracy", [&] {
    cli::CommandLine line(
        "links_accuracy",
        "How accurate a fast network is, judged by SimGrid's flow model: patterns and schemes on "
        "five platforms, simulated on both, as a table of simulated times and their ratios.",
        version());
    Flags flags;
    line.root().require_subcommand(0, 0);
    add_flags(line.root(), flags);
    line.root().callback([&flags] { return run(flags); });
    return line.run(argc, argv);
  });
}
