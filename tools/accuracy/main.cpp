// Measures the accuracy of a fast network against SimGrid: the table of results/links/.
//
//   links_accuracy [-o FILE] [--only smpi|links] [--set KEY=VALUE ...] [--patterns ...] ...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/core/base/errors.hpp"
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

/// Parses KEY=VALUE, where VALUE is JSON or otherwise a text.
Json settings_from(const std::vector<std::string>& texts) {
  Json settings = Json::object();
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError(fmt::format(
          "--set: '{}' is not valid; expected KEY=VALUE, as in chunk_bytes=65536", text));
    }
    const std::string value = text.substr(equals + 1);
    const Json parsed = Json::parse(value, nullptr, false);
    settings[text.substr(0, equals)] = parsed.is_discarded() ? Json(value) : parsed;
  }
  return settings;
}

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
  table.judged.settings = settings_from(flags.settings);
  flags.report.judged = table.judged.network;
  if (flags.only != "both" && flags.only != "smpi" && flags.only != table.judged.network) {
    throw InputError(fmt::format("--only: '{}' is not valid; expected smpi or {}", flags.only,
                                 table.judged.network));
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
    throw InputError(fmt::format("{}: cannot be made; set TMPDIR to a folder with room", folder));
  }
  const std::shared_ptr<void> removed_in_the_end(nullptr, [&folder](void* /*nothing*/) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  table.platforms = write_platforms(folder);
  if (flags.packets) table.platforms["gige_star"] = topologies::platform_file("gige_star");
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

void add_flags(CLI::App& app, Flags& flags) {
  TableSettings& table = flags.table;
  table.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  table.output = "results/local/accuracy.jsonl";
  app.add_option("-o,--output", table.output,
                 "measurements, one JSON object a line; what it holds is not measured again")
      ->capture_default_str();
  app.add_option("--also", table.also,
                 "further measurements to take from, which are only read: a copy that another run "
                 "is writing, say");
  app.add_option("--network", table.judged.network, "the network that is judged")
      ->capture_default_str();
  app.add_option("--set", flags.settings,
                 "KEY=VALUE of a point, for the judged network: variants are kept side by side");
  app.add_option("--only", flags.only, "measure this network alone: smpi, or the judged one");
  app.add_option("--patterns", flags.axes.patterns, "patterns and schemes [all]")->delimiter(',');
  app.add_option("--platforms", flags.axes.platforms, "platforms of the table [all]")
      ->delimiter(',');
  app.add_option("-P,--ranks", flags.axes.ranks, "numbers of ranks [16,64,256,512]")
      ->delimiter(',');
  app.add_option("--sizes", flags.axes.sizes, "1kB, 64kB, 4MB, unequal [all]")->delimiter(',');
  app.add_option("--placement", flags.axes.placement, "block, round_robin or random:SEED")
      ->capture_default_str();
  app.add_flag("--packets", flags.packets,
               "judge by ns-3's packets instead: 16 ranks on gige_star");
  app.add_option("-j,--jobs", table.jobs, "cells that run at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
         "--time-limit", table.limit_s,
         "wall-clock seconds for a cell on a network; beyond them it is recorded as too slow")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--force", table.force, "measure also what is there already");
  app.add_flag("--summary", flags.report.summary, "leave the cells out of the table");
  app.add_flag("--gate", flags.gate,
               "exit with 1 where the median error is above 3% or the 90th percentile above 10%");
  const std::map<std::string, TableFormat> formats{{"table", TableFormat::table},
                                                   {"markdown", TableFormat::markdown},
                                                   {"csv", TableFormat::csv},
                                                   {"jsonl", TableFormat::jsonl}};
  app.add_option("--format", flags.report.format, "table, markdown, csv or jsonl [table]")
      ->transform(CLI::CheckedTransformer(formats))
      ->option_text("FORMAT");
  app.footer(
      "Cells run in child processes, the longest first, and are kept as they end: the same "
      "command\n"
      "goes on later. SimGrid's times stay when Thinwire changes; the judged network is measured\n"
      "anew by every version of it.\n"
      "Example: links_accuracy -o results/links/accuracy.jsonl --only links --summary");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "How accurate a fast network is, judged by SimGrid's flow model: patterns and schemes on "
      "five "
      "platforms, simulated on both, as a table of simulated times and their ratios.");
  Flags flags;
  add_flags(app, flags);
  const auto complain = [](const std::exception& error, int exit_code) {
    fmt::print(stderr, "links_accuracy: {}\n", error.what());
    return exit_code;
  };
  try {
    app.parse(argc, argv);
    return run(flags);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : complain(error, cli::kBadInput);
  } catch (const InputError& error) {
    return complain(error, cli::kBadInput);
  } catch (const InterruptedError& error) {
    return complain(error, cli::kInterrupted);
  } catch (const std::exception& error) {
    return complain(error, cli::kFailed);
  }
}
