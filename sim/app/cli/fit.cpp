#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/app/cli/progress.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/fit_report.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/validate/fit.hpp"
#include "sim/app/studies/validate/made_machine.hpp"
#include "sim/app/studies/validate/predict.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::cli {

namespace {

/// The most sizes of a collective that are predicted.
constexpr std::size_t kPredictedSizes = 12;
/// An rms of log(simulated/measured), a factor of 1.5, beyond which a fit says that it is poor.
constexpr double kPoorFit = 0.4;

struct FitFlags {
  std::vector<std::string> logs;
  std::string placements;
  std::string machine;
  std::vector<std::string> settings;
  studies::MachineWishes wishes;
  std::optional<int> nodes;
  std::string name = "fitted";
  std::string output;
  run::SweepOptions options;
  report::View view;
};

/// The file with the points of a machine that were simulated before, in this run or an earlier one.
/// Each trial reads it, so other machines have files of their own.
std::string trials_of(std::string machine) {
  std::ranges::replace_if(
      machine, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return fmt::format("results/local/fit_{}.jsonl", machine);
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

void say_fitted(const studies::MachineFit& found) {
  for (const studies::FittedVariable& variable : found.variables) {
    if (variable.identified) {
      say("{} = {} +- {:.0f}%", variable.name, report::fitted_text(variable),
          100 * variable.deviation);
    } else if (variable.value == 0) {
      say("{}: the rows want none of it, so it is 0: the platform and the other settings have all "
          "of it already, or more",
          variable.name);
    } else {
      say("{}: these rows do not determine it (+- {:.0f}%); it keeps {}. Rows of other sizes or of "
          "more nodes may",
          variable.name, 100 * variable.deviation, report::fitted_text(variable));
    }
  }
  say("fitted to {} rows ({} points a trial); rms of log(simulated/measured): {:.3f}{}", found.rows,
      found.points, found.rms, found.converged ? "" : "; the best that was found, not converged");
}

/// Fits settings of a description, and writes it.
int fit_described(const FitFlags& flags) {
  if (flags.settings.empty()) {
    throw InputError("--machine: say which settings are fitted, as in --fit machine.overhead_s");
  }
  const studies::MachineDescription machine =
      studies::read_machine(studies::kMachines.file(flags.machine));
  const std::vector<studies::MeasuredRow> measured =
      studies::read_all_measured(flags.logs, machine.name);
  check_output(flags.output, {machine.settings.value("platform", std::string())});
  const std::string trials = trials_of(machine.name);
  put_stale_trials_aside(trials);
  const studies::MachineFit found = studies::fit(
      measured, studies::settings_to_fit(machine, flags.settings), flags.placements,
      [&](const run::Sweep& sweep) {
        ProgressDisplay display;
        return run::run_sweep(sweep, trials, flags.options,
                              [&](const run::SweepProgress& progress) { display.show(progress); });
      });
  const std::string text = to_json(found, read_json(machine.path)).dump(2) + "\n";
  if (flags.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_text(flags.output, text);
  }
  say_fitted(found);
  return 0;
}

void print_predictions(const FitFlags& flags, const studies::MachineFit& found,
                       const studies::MadeMachine& made) {
  const int nodes = *flags.nodes;
  const std::vector<studies::PredictedRow> predicted = studies::predict(
      made.rows(), found.machine, nodes, made.ranks_per_node(), kPredictedSizes,
      [&](const std::vector<plan::Point>& points) {
        return run_shown(fmt::format("predicting {} nodes", nodes), points, flags.options.jobs);
      });
  const std::vector<Json> records = report::prediction_records(
      predicted, studies::interval_factor(found.rms, made.most_nodes(), nodes));
  fmt::print("{}", report::for_people(flags.view.format)
                       ? report::prediction_text(records, flags.view)
                       : report::render(flags.view, records, {}));
  std::fflush(stdout);
}

struct FittedMachine {
  std::unique_ptr<studies::MadeMachine> made;
  studies::MachineFit fit;
};

/// The machine with NCCL's protocol LL128, or without it where the rows of several nodes fit better
/// so; where the fit is poor, with a rendezvous if that is better.
FittedMachine best_made(const FitFlags& flags, const std::string& output) {
  const std::vector<studies::MeasuredRow> rows = studies::read_all_measured(flags.logs, flags.name);
  const auto fitted = [&](bool ll128, bool rendezvous) {
    studies::MachineWishes wishes = flags.wishes;
    wishes.ll128 = ll128;
    wishes.rendezvous = rendezvous;
    FittedMachine machine{.made = std::make_unique<studies::MadeMachine>(rows, wishes, output),
                          .fit = {}};
    machine.fit = studies::fit(machine.made->rows(), machine.made->problem(), "",
                               [&](const run::Sweep& sweep) {
                                 return run_shown("fitting", sweep.points, flags.options.jobs);
                               });
    return machine;
  };
  FittedMachine with = fitted(true, false);
  if (!with.made->is_nccl_between_nodes()) return with;
  FittedMachine without = fitted(false, false);
  const bool lacks = without.fit.rms < with.fit.rms;
  say("NCCL's LL128 between nodes: {}, since the rms is {:.3f} with it and {:.3f} without",
      lacks ? "off" : "on", with.fit.rms, without.fit.rms);
  FittedMachine best = lacks ? std::move(without) : std::move(with);
  if (best.fit.rms <= kPoorFit) return best;
  FittedMachine asks = fitted(!lacks, true);
  const bool better = asks.fit.rms < best.fit.rms;
  say("a rendezvous between nodes: {}, since the rms is {:.3f} with it and {:.3f} without",
      better ? "yes" : "no", asks.fit.rms, best.fit.rms);
  return better ? std::move(asks) : std::move(best);
}

/// Makes the machine of the logs, fits it, writes it, and predicts more nodes.
int fit_made(const FitFlags& flags) {
  if (!flags.settings.empty()) {
    throw InputError("--fit: settings belong to a description; give --machine FILE as well");
  }
  if (!flags.placements.empty()) {
    throw InputError("--placement: needs --machine FILE, whose platform has the nodes");
  }
  const std::filesystem::path output =
      flags.output.empty() ? fmt::format("results/local/{}.json", flags.name) : flags.output;
  if (output.extension() != ".json") {
    throw InputError("-o {}: expected a file FILE.json; the platform is FILE.xml beside it",
                     flags.output);
  }
  std::filesystem::path platform = output;
  platform.replace_extension(".xml");
  require_writable(output.string());
  require_writable(platform.string());
  for (const std::string& log : flags.logs) {
    check_output(output.string(), {studies::measured_file(log).path});
    check_output(platform.string(), {studies::measured_file(log).path});
  }
  FittedMachine best = best_made(flags, output.string());
  studies::MadeMachine& made = *best.made;
  studies::MachineFit& found = best.fit;
  const int nodes = std::max(flags.nodes.value_or(0), made.most_nodes());
  write_text(platform.string(), made.platform_xml(found.values(), nodes));
  found.machine = made.described(found.values(), platform.string());
  write_text(output.string(), made.to_json(found).dump(2) + "\n");
  say_fitted(found);
  for (const std::string& assumed : made.assumed()) say("assumed: {}", assumed);
  if (found.rms > kPoorFit) {
    say("the logs do not fit this machine: simulated times are off by a factor of {:.1f}; check "
        "the numbers of GPUs and NICs, the bandwidth of a NIC and the algorithm of each log",
        std::exp(found.rms));
  }
  if (flags.nodes) print_predictions(flags, found, made);
  say("wrote {} ({} nodes) and {}; next: thinwire run --platform {} -P {}", platform.string(),
      nodes, output.string(), output.string(), nodes * made.ranks_per_node());
  return 0;
}

int run(const FitFlags& flags) {
  if (!flags.output.empty()) require_writable(flags.output);
  for (const std::string& argument : flags.logs) {
    check_output(flags.output, {studies::measured_file(argument).path});
  }
  return flags.machine.empty() ? fit_made(flags) : fit_described(flags);
}

}  // namespace

void add_fit(Command& app) {
  auto flags = std::make_shared<FitFlags>();
  Command command =
      app.add_subcommand("fit", "Make a machine of measured times, and predict them on more nodes");
  command
      .add_option("logs", flags->logs,
                  "logs of nccl-tests, OSU or IMB, a CSV or rows of thinwire measure, as "
                  "'validate --measured' takes them")
      .required()
      .value_text("FILE[,KEY=VALUE...] ...");
  command
      .add_option("--nodes", flags->nodes, "predict the collectives of the logs on this many nodes")
      .positive()
      .value_text("NODES");
  command.add_option("--gpus", flags->wishes.gpus, "GPUs of a node")
      .positive()
      .value_text("GPUS [the most ranks of a node in the logs]");
  command.add_option("--nics", flags->wishes.nics, "NICs of a node")
      .positive()
      .value_text("NICS [one for each GPU; of nodes without GPUs one]");
  command
      .add_option("--nic-bandwidth", flags->wishes.nic_bandwidth,
                  "of a NIC, each way, as in 400Gbps or 50GBps")
      .value_text("BANDWIDTH [the most that the logs show]");
  command
      .add_option("--gpu-bandwidth", flags->wishes.gpu_bandwidth,
                  "of a GPU to the switch of its node, each way, where no log is of one node")
      .value_text("BANDWIDTH [300GBps]");
  command
      .add_option("--device", flags->wishes.device,
                  "the GPUs: v100, a100 or h100, whose rates NCCL's tuner has")
      .value_text("GPU [as the logs name it]");
  command
      .add_option("--oversubscription", flags->wishes.oversubscription,
                  "of leaf switches: bandwidth from below over bandwidth to above")
      .positive()
      .value_text("RATIO [1]");
  command.add_option("--leaf-nodes", flags->wishes.leaf_nodes, "nodes below a leaf switch")
      .positive()
      .value_text("NODES [32]");
  command.add_option("--name", flags->name, "name of the machine in its description")
      .value_text("NAME [fitted]");
  command
      .add_option("--machine", flags->machine,
                  "fit settings of this description instead: a JSON file, or the name of a shipped "
                  "one; only the rows that it names in calibrated_on are used")
      .value_text("FILE");
  command
      .add_option("--fit", flags->settings,
                  "setting of the description to fit, such as machine.overhead_s; see 'thinwire "
                  "list settings'")
      .value_text("SETTING ...");
  command
      .add_option("--placement", flags->placements,
                  "folder of MACHINE_RUN.csv with the node of each rank, for --machine")
      .value_text("FOLDER");
  command
      .add_option("-o,--output", flags->output,
                  "write the description there, and the platform beside it as FILE.xml")
      .value_text("FILE.json [results/local/NAME.json; with --machine stdout]");
  add_jobs(command, flags->options.jobs, "points");
  add_format(command, flags->view);
  command.footer(
      "The fit minimises the sum of squares of log(simulated/measured), by Levenberg-Marquardt. A\n"
      "value with a relative standard deviation above 50% is not determined by the logs: it stays\n"
      "as it was, and the others are fitted again. The interval of a prediction holds 90% of\n"
      "measured times if they scatter like the fit's residuals, and by another 10% for each\n"
      "doubling of the nodes.\n"
      "run, sweep and recommend take the description as --platform.\n"
      "Examples:\n"
      "  thinwire fit one_node.txt two_nodes.txt --gpus 8 --nics 8 --nic-bandwidth 400Gbps\n"
      "    --nodes 256 --oversubscription 2\n"
      "  thinwire fit osu.txt,nodes=2,tasks_per_node=4,library=OMPI\n"
      "    --nic-bandwidth 100Gbps --nodes 64\n"
      "  thinwire fit results/measured/data/collectives.csv --machine leonardo\n"
      "    --placement results/measured/data/placement --fit machine.overhead_s -o leonardo.json");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
