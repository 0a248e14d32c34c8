#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "sim/cli/command.hpp"
#include "sim/experiment/sweep.hpp"

namespace thinwire {

namespace {

struct SweepFlags {
  std::string config;
  std::string output;
  bool force = false;
  Format format = Format::table;
};

int run(SweepFlags flags) {
  flags.config = sweep_file(flags.config);
  const Sweep sweep = sweep_from(read_json(flags.config), flags.config);
  prepare_for_packets(sweep.points, flags.config);
  const std::string output =
      flags.output.empty() ? fmt::format("results/local/{}.jsonl", sweep.name) : flags.output;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::size_t reused = 0;
  const std::vector<Row> rows =
      run_sweep(sweep, output, flags.force, [&](const SweepProgress& progress) {
        reused += progress.reused ? 1 : 0;
        const Row& row = progress.row;
        if (terminal) fmt::print(stderr, "\r\033[K");
        if (terminal || !progress.reused) {
          fmt::print(stderr, "{}/{} {} ({:.1f} s){}", progress.done, progress.total,
                     name_of(row.point), row.wall_s, terminal ? "" : "\n");
        }
        if (terminal && progress.done == progress.total) fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
      });
  fmt::print("{}", comparison_text(rows, kExactTolerance, flags.format, Detail::brief));
  const bool failed = report_troubles(rows);
  fmt::print(stderr, "{} points ({} of them were there already) in {}\n", rows.size(), reused,
             output);
  return failed ? kFailed : 0;
}

}  // namespace

void add_sweep(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SweepFlags>();
  CLI::App& command = *app.add_subcommand(
      "sweep", "Simulate every point of a grid and compare them with their formulas");
  command
      .add_option("sweep", flags->config,
                  "JSON file with the sweep, or the name of a shipped one: table1")
      ->required()
      ->option_text("CONFIG.json");
  command.add_option("-o,--output", flags->output, "results, one JSON object a line")
      ->option_text("FILE [results/local/NAME.jsonl]");
  command.add_flag("--force", flags->force, "run all points, also those that the results hold");
  add_format(command, flags->format);
  command.footer(
      "A point is written as soon as it ends; the same command later runs only what is missing.\n"
      "Example: thinwire sweep sweeps/table1.json -o table1.jsonl");
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire
