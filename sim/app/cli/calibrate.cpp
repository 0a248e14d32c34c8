#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "sim/app/cli/progress.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/validate/calibrate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::cli {

namespace {

struct CalibrateFlags {
  std::vector<std::string> measured;
  std::string placements;
  std::string machine;
  std::vector<std::string> settings;
  std::string output;
  run::SweepOptions options;
};

/// The file with the points of a machine that were simulated before, in this run or an earlier one.
/// Each trial reads it, so other machines have files of their own.
std::string trials_of(std::string machine) {
  std::ranges::replace_if(
      machine, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return fmt::format("results/local/calibrate_{}.jsonl", machine);
}

/// Puts trials aside that cannot be read: they are of a version with other settings.
void put_stale_trials_aside(const std::string& trials) {
  std::error_code ignored;
  if (!std::filesystem::exists(trials, ignored)) return;
  try {
    static_cast<void>(results::read_rows(trials));
  } catch (const InputError& error) {
    const std::string aside = trials + ".old";
    std::filesystem::rename(trials, aside, ignored);
    if (ignored) throw;
    say("{}; the file is now {}, and its points are simulated again", error.what(), aside);
  }
}

int run(CalibrateFlags& flags) {
  if (!flags.output.empty()) require_writable(flags.output);
  for (const std::string& argument : flags.measured) {
    check_output(flags.output, {studies::measured_file(argument).path});
  }
  const std::vector<studies::MeasuredRow> measured = studies::read_all_measured(flags.measured);
  const studies::MachineDescription machine =
      studies::read_machine(studies::kMachines.file(flags.machine));
  check_output(flags.output, {machine.settings.value("platform", std::string())});
  const std::string trials = trials_of(machine.name);
  put_stale_trials_aside(trials);
  const studies::MachineFit found = studies::calibrate(
      measured, machine, flags.placements, flags.settings, [&](const run::Sweep& sweep) {
        ProgressDisplay display;
        return run::run_sweep(sweep, trials, flags.options,
                              [&](const run::SweepProgress& progress) { display.show(progress); });
      });
  const std::string text = to_json(found).dump(2) + "\n";
  if (flags.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_text(flags.output, text);
  }
  for (const studies::FittedSetting& setting : found.settings) {
    if (setting.identified) {
      say("{} = {:.3g} {} +- {:.0f}%", setting.path, setting.value,
          plan::setting_at(setting.path).unit, 100 * setting.deviation);
    } else if (setting.value == 0) {
      say("{}: the rows want none of it, so it is 0: the platform and the other settings have all "
          "of "
          "it already, or more. Leave it out",
          setting.path);
    } else {
      say("{}: these rows do not determine it (+- {:.0f}%); it keeps {:.3g}. Leave it out, or "
          "calibrate on rows that depend on it",
          setting.path, 100 * setting.deviation, setting.value);
    }
  }
  say("fitted to {} rows ({} points a trial); rms of log(simulated/measured): {:.3f}", found.rows,
      found.points, found.rms);
  return 0;
}

}  // namespace

void add_calibrate(Command& app) {
  auto flags = std::make_shared<CalibrateFlags>();
  Command command = app.add_subcommand(
      "calibrate", "Fit settings of a machine to measured times, and write its description");
  command
      .add_option("--measured", flags->measured,
                  "measured times, as for 'validate'; only the rows that the machine's "
                  "description names in calibrated_on are used")
      .required()
      .value_text("FILE[,KEY=VALUE...] ...");
  command
      .add_option("--placement", flags->placements,
                  "folder of MACHINE_RUN.csv with the node of each rank")
      .value_text("FOLDER");
  command
      .add_option("--machine", flags->machine,
                  "description of the machine: a JSON file, or the name of a shipped one; the fit "
                  "starts at its settings")
      .required()
      .value_text("FILE");
  command
      .add_option("--fit", flags->settings,
                  "setting to fit, such as machine.overhead_s; see 'thinwire list settings'")
      .required()
      .value_text("SETTING ...");
  command.add_option("-o,--output", flags->output, "write the description there, not to stdout")
      .value_text("FILE");
  add_jobs(command, flags->options.jobs, "points");
  command.footer(
      "The sum of squares of log(simulated/measured) is made least, by Levenberg-Marquardt. A\n"
      "setting whose relative standard deviation exceeds 50% is not determined by the rows: it\n"
      "keeps its value, and the others are fitted again. Limits such as machine.eager_bytes are\n"
      "not fitted: set them in the description, and compare the rms. Simulated points are kept in\n"
      "results/local/calibrate_MACHINE.jsonl, so a killed run goes on where it was.\n"
      "Example:\n"
      "  thinwire calibrate --machine leonardo --measured results/measured/data/collectives.csv\n"
      "    --placement results/measured/data/placement --fit machine.overhead_s\n"
      "    --fit machine.gamma_s_per_word -o leonardo.json");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
