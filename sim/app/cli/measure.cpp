#include "sim/app/run/measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/program.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/lines_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/mpi/launcher.hpp"

namespace thinwire::cli {

namespace {

struct MeasureFlags {
  std::string config;
  Json given = Json::object();
  std::vector<std::string> settings;
  std::string output;
  report::View view;
  run::MeasureSettings measure;
  bool no_check = false;
  bool phases = false;
  networks::WaitingSettings waiting;
};

/// The settings of a point that mean something on real processes, beside --set.
plan::Settings measured_settings() {
  plan::Settings settings;
  for (const plan::Setting& setting : plan::point_settings()) {
    const bool simulated = setting.path == "network" || setting.path == "iterations" ||
                           setting.path == "input.statistical" ||
                           setting.path == "machine.gamma_s_per_word" ||
                           setting.group() == "workload";
    if (setting.networks.has(plan::NetworkId::mpi) && !simulated) settings.push_back(setting);
  }
  return settings;
}

std::string table_of(const std::vector<results::Row>& rows, const report::View& view) {
  std::vector<Json> records;
  bool beside = false;
  for (const results::Row& row : rows) {
    Json& record = records.emplace_back(report::record_of(row, compare(row, kExactTolerance)));
    const auto& outcome = row.outcome;
    record["checked"] = !outcome ? "" : outcome->measured->checked ? "ok" : "no";
    const Json library = record.value("library_allreduce_s", Json());
    if (!library.is_number()) continue;
    beside = true;
    record["over_library"] = record.at("time_s").get<double>() / library.get<double>();
  }
  std::vector<report::Column> columns;
  report::add_columns(columns, {"scheme", "ranks", "components", "k", "time_s", "measured_min_s"});
  report::add_columns(columns, {"measured_p10_s"}, report::Shown::if_wide);
  report::add_columns(columns, {"measured_p90_s"});
  report::add_columns(columns, {"messages_sent_max", "words_sent_max"}, report::Shown::if_room);
  if (beside) report::add_columns(columns, {"library_allreduce_s", "over_library"});
  report::add_columns(columns, {"checked"});
  return report::to_table(records, columns, view);
}

std::string phases_of(const results::Row& row) {
  std::string text = fmt::format("\n{}:\n", name_of(row.point));
  for (const results::PhaseCost& phase : row.outcome->phases) {
    text += fmt::format("  {:<20} {:>12.4g} s {:>10} messages {:>12} words\n", phase.name,
                        phase.time.value(), phase.messages_received, phase.words_received.value());
  }
  return text;
}

/// Opens the file of results, on rank 0. If that fails, all processes throw.
std::unique_ptr<results::LinesFile> open_output(const std::string& path,
                                                networks::ProcessNetwork& network) {
  std::unique_ptr<results::LinesFile> file;
  std::string problem;
  if (network.rank() == 0 && !path.empty()) {
    try {
      file = std::make_unique<results::LinesFile>(path, [&path](const std::string& text) {
        static_cast<void>(results::rows_from(text, path));
      });
    } catch (const InputError& error) {
      problem = error.what();
    }
  }
  problem = network.from_first(problem);
  if (!problem.empty()) throw InputError(problem);
  return file;
}

int measure_on(networks::ProcessNetwork& network, const MeasureFlags& flags) {
  const std::vector<plan::Point> points =
      points_of(flags.config, flags.given, flags.settings, [&](Json point) {
        return run::measured_point(std::move(point), network.size(), flags.measure);
      });
  const std::unique_ptr<results::LinesFile> file = open_output(flags.output, network);
  std::vector<results::Row> rows;
  for (const plan::Point& point : points) {
    rows.push_back(run::measure_point(point, network, flags.measure));
    const std::string line = to_json(rows.back()).dump() + '\n';
    if (file) file->append(line);
    if (flags.view.format == report::Format::jsonl) {
      fmt::print("{}", line);
      std::fflush(stdout);
    }
  }
  if (report::for_people(flags.view.format)) {
    fmt::print("{}", table_of(rows, flags.view));
  } else if (flags.view.format != report::Format::jsonl) {
    fmt::print("{}", report::comparison_text(rows, kExactTolerance, flags.view));
  }
  for (const results::Row& row : rows) {
    if (!flags.phases || !row.outcome) continue;
    const bool table = report::for_people(flags.view.format);
    static_cast<void>(std::fputs(phases_of(row).c_str(), table ? stdout : stderr));
  }
  return report_troubles(rows) ? kFailed : 0;
}

int measure(MeasureFlags& flags, const RealProcesses& processes) {
  if (!processes.make) {
    if (networks::launched_rank() > 0) return kBadInput;  // process 0 says it
    throw InputError(
        "measure: there is no thinwire-mpi beside this program; install the package thinwire-mpi, "
        "or an MPI library (libopenmpi-dev, openmpi-bin) and build again: "
        "docs/how-to/measure-on-mpi.md");
  }
  flags.measure.check = !flags.no_check;
  const std::unique_ptr<networks::ProcessNetwork> network = processes.make(flags.waiting);
  try {
    return measure_on(*network, flags);
  } catch (const InputError&) {
    throw;  // on all processes alike
  } catch (const std::bad_alloc&) {
    processes.end_all(fmt::format("rank {}: out of memory", network->rank()));
  } catch (const std::exception& error) {
    processes.end_all(fmt::format("rank {}: {}", network->rank(), error.what()));
  }
  return kFailed;
}

}  // namespace

void become_measuring_program(char** argv) {
  std::error_code unknown;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return;
  const std::string measuring = own.parent_path() / "thinwire-mpi";
  execv(measuring.c_str(), argv);  // comes back only where there is none
}

void add_measure(Command& app, const RealProcesses& processes) {
  auto flags = std::make_shared<MeasureFlags>();
  static const plan::Settings settings = measured_settings();
  Command command =
      app.add_subcommand("measure", "Run points on real MPI processes, check and time them");
  command.add_option("--config", flags->config, "JSON file with the point; flags override it")
      .value_text("FILE");
  add_setting_flags(command, flags->given, settings);
  command.add_option("--set", flags->settings, "any other key of a point: --set options.tau=32")
      .value_text("KEY=VALUE");
  command.add_option("--warm-up", flags->measure.warm_up, "iterations before the first that counts")
      .range(0, 1'000'000)
      .show_default();
  command.add_option("--iterations", flags->measure.iterations, "iterations that count")
      .range(1, 1'000'000)
      .show_default();
  command.add_flag("--no-check", flags->no_check,
                   "do not compare results, messages and words with a reference");
  command.add_flag("--beside-mpi", flags->measure.beside_library,
                   "also time the library's own allreduce of a dense gradient");
  command
      .add_option(
          "--timeout", flags->waiting.limit,
          "end all processes when nothing has arrived at a rank for this long; 0: wait forever")
      .range(0.0, 1e6)
      .unit("s")
      .value_text("s [0]");
  command
      .add_option(
          "--pause", flags->waiting.pause,
          "sleep between two polls for messages, where ranks share cores; 0: poll all the time")
      .range(0.0, 1.0)
      .unit("s")
      .value_text("s [0]");
  command.add_option("-o,--output", flags->output, "file of results, to which rows are added")
      .value_text("FILE");
  command.add_flag("--phases", flags->phases, "print what each phase of the scheme cost");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.first({"--scheme", "--components", "--density", "--iterations", "--phases", "--output",
                 "--format"});
  command.footer(
      "Start it by mpirun, which gives the number of ranks. With lists it measures one point "
      "after\n"
      "another: --scheme dense_ring,oktopk -n 1e4,1e6.\n"
      "Examples:\n"
      "  mpirun -n 8 thinwire measure --scheme oktopk -n 1e6 -d 0.01\n"
      "  mpirun -n 4 thinwire measure --scheme dense_ring -n 1e6 --beside-mpi -o here.jsonl\n"
      "  thinwire compare here.jsonl simulated.jsonl");
  command.callback([flags, &processes] { return measure(*flags, processes); });
}

}  // namespace thinwire::cli
