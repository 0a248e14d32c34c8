#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/app/cli/progress.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/validation_report.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/validate/probe.hpp"
#include "sim/app/studies/validate/validate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::cli {

namespace {

struct ValidateFlags {
  std::vector<std::string> measured;
  std::string placements;
  std::vector<std::string> machines;
  std::string output;
  std::optional<std::int64_t> memory_mebibytes;
  run::SweepOptions options;
  report::View view;
};

/// The descriptions that the user named, else the shipped ones of the rows' machines.
std::vector<studies::MachineDescription> machines_of(
    const std::vector<std::string>& named, const std::vector<studies::MeasuredRow>& rows) {
  std::vector<studies::MachineDescription> machines;
  for (const std::string& name : named) {
    machines.push_back(studies::read_machine(studies::kMachines.file(name)));
  }
  if (!named.empty()) return machines;
  std::set<std::string> wanted;
  for (const studies::MeasuredRow& row : rows) wanted.insert(row.machine);
  for (const std::string& name : studies::kMachines.names()) {
    studies::MachineDescription machine = studies::read_machine(studies::kMachines.file(name));
    if (wanted.contains(machine.name)) machines.push_back(std::move(machine));
  }
  return machines;
}

/// Probes the runs, and plans again with what they tell.
studies::Validation with_probes(studies::Validation planned,
                                const std::vector<studies::MeasuredRow>& measured,
                                const ValidateFlags& flags) {
  const bool none = std::ranges::all_of(
      planned.machines,
      [](const studies::MachineDescription& machine) { return machine.probed.empty(); });
  if (none) return planned;
  std::vector<studies::MachineDescription> machines =
      studies::probed(planned, flags.placements, [&flags](const std::vector<plan::Point>& points) {
        return run_shown("probes", points, flags.options.jobs);
      });
  studies::Validation again =
      studies::plan_validation(measured, std::move(machines), flags.placements);
  studies::check_places(again);
  return again;
}

int run(ValidateFlags& flags) {
  // If one machine is described, texts that do not name their machine belong to it.
  const bool one = flags.machines.size() == 1;
  const std::vector<studies::MeasuredRow> measured = studies::read_all_measured(
      flags.measured,
      one ? studies::read_machine(studies::kMachines.file(flags.machines.front())).name : "");
  studies::Validation validation =
      studies::plan_validation(measured, machines_of(flags.machines, measured), flags.placements);
  for (const std::string& argument : flags.measured) {
    prepare_for_packets(validation.sweep.points, studies::measured_file(argument).path);
  }
  studies::check_places(validation);
  validation = with_probes(std::move(validation), measured, flags);
  if (flags.memory_mebibytes) flags.options.limits.memory_bytes = *flags.memory_mebibytes << 20;
  const std::filesystem::path folder(flags.output);
  if (!flags.output.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw InputError("{}: {}", flags.output, failed.message());
  }
  const std::string simulated =
      flags.output.empty() ? "results/local/validate.jsonl" : (folder / "simulated.jsonl").string();
  std::vector<results::Row> results;
  if (!validation.sweep.points.empty()) {
    ProgressDisplay display;
    results = run::run_sweep(validation.sweep, simulated, flags.options,
                             [&](const run::SweepProgress& progress) { display.show(progress); });
  }
  studies::take_results(validation, results);
  const std::vector<Json> records = report::validation_records(validation);
  if (!flags.output.empty()) {
    write_text(folder / "validation.txt", report::validation_text(records));
    write_text(folder / "validation.jsonl", report::to_json_lines(records));
  }
  fmt::print("{}", report::for_people(flags.view.format)
                       ? report::validation_text(records, flags.view)
                       : report::render(flags.view, records, {}));
  std::fflush(stdout);  // the tables first, where both go to one place
  for (const std::string& note : validation.notes) say("{}", note);
  say("{} of {} measured rows simulated, {} skipped; {} points in {}", validation.rows.size(),
      measured.size(), validation.skipped.size(), results.size(), simulated);
  const bool failed = report_troubles(results);
  if (validation.rows.empty() && !failed) {
    say("nothing was compared, so nothing is validated");
  }
  return failed || validation.rows.empty() ? kFailed : 0;
}

}  // namespace

void add_validate(Command& app) {
  auto flags = std::make_shared<ValidateFlags>();
  Command command = app.add_subcommand(
      "validate", "Simulate what was measured on real machines, and compare the times");
  command
      .add_option("--measured", flags->measured,
                  "measured times: a CSV, the rows of thinwire measure, or the output of "
                  "nccl-tests, OSU or IMB, and KEYs say what the text does not (machine, "
                  "algorithm, nodes, tasks_per_node ...)")
      .required()
      .value_text("FILE[,KEY=VALUE...] ...");
  command
      .add_option(
          "--placement", flags->placements,
          "folder of MACHINE_RUN.csv with the node of each rank; the ranks of a run without one "
          "fill one node after another")
      .value_text("FOLDER");
  command
      .add_option(
          "--machine", flags->machines,
          "description of a machine: a JSON file, or the name of a shipped one; default the "
          "shipped ones of the rows' machines")
      .value_text("FILE ...");
  command
      .add_option("-o,--output", flags->output,
                  "write validation.txt and validation.jsonl there, and the simulated points")
      .value_text("FOLDER");
  add_jobs(command, flags->options.jobs, "points");
  command.add_flag("--force", flags->options.force,
                   "run all points, including those that the results hold");
  command
      .add_option("--time-limit", flags->options.limits.seconds,
                  "wall-clock seconds per point; a point that exceeds them fails")
      .positive()
      .value_text("SECONDS");
  add_memory_limit(command, flags->memory_mebibytes);
  add_format(command, flags->view);
  command.footer(
      "A row is calibrated if its machine's description says that its settings were fitted to it,\n"
      "else predicted. Errors are ratios: +100% is twice the measured time, -100% half of it; "
      "bias\n"
      "is their geometric mean. Of the pairs of algorithms whose measured times differ by more "
      "than\n"
      "10%, `right` is the share in the right order; `regret` is the time lost by taking the\n"
      "algorithm that is fastest by the prediction. The plain formula is alpha, beta and gamma,\n"
      "fitted to the calibrated rows. Rows of no known algorithm are listed and skipped. A killed\n"
      "run goes on where it was, as a sweep does. docs/explanation/accuracy.md explains the "
      "figures.\n"
      "Examples:\n"
      "  thinwire validate --measured results/measured/data/collectives.csv\n"
      "    --placement results/measured/data/placement -o results/measured\n"
      "  thinwire validate --measured ring.txt,machine=mine,algorithm=ring --machine mine.json");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
