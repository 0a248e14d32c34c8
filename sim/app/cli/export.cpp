#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/replay.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/machine/schedules/chakra.hpp"
#include "sim/machine/schedules/goal.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::cli {

namespace {

struct ExportFlags {
  std::string config;
  Json given = Json::object();
  std::vector<std::string> settings;
  ScheduleFlags schedule;
  bool verbose = false;
};

int run(const ExportFlags& flags) {
  const ScheduleFlags& wanted = flags.schedule;
  if (!wanted.any()) {
    throw InputError("--goal: say where the schedule goes, with --goal FILE or --chakra FOLDER");
  }
  const std::vector<plan::Point> points = points_of(flags.config, flags.given, flags.settings);
  if (points.size() > 1) {
    throw InputError("{} points: a schedule has one point; give each flag one value",
                     points.size());
  }
  prepare_for_packets(points, flags.config);
  const plan::Point& point = points.front();
  check_output(wanted.goal, inputs_of(point));
  check_output(wanted.goal, {flags.config});
  if (point.record.links || point.record.ranks) {
    throw InputError("/record: a schedule has no place for it; leave --links and --by-rank out");
  }
  if (const auto reason = plan::restriction_of(point)) throw InputError(*reason);
  run::Simulation simulation(point, {.verbose = flags.verbose, .alphabeta = false});
  Schedule schedule;
  const results::Outcome outcome = simulation.run(schedule);
  const Bytes eager = point.machine.host.eager;  // 0 on networks that know none
  if (!wanted.goal.empty()) {
    write_text(wanted.goal, schedules::to_goal(schedule, eager, Seconds(wanted.unit)));
  }
  if (!wanted.chakra.empty()) {
    std::string name = point.scheme->name;
    std::replace(name.begin(), name.end(), '+', '_');
    schedules::write_chakra(schedule, eager, wanted.chakra, name);
  }
  const schedules::ScheduleTotals totals = schedules::totals_of(schedule);
  const std::string time = point.network->has_clock
                               ? fmt::format("simulated time {:.9g} s", outcome.time().value())
                               : fmt::format("{} steps", outcome.steps);
  say("{}: iteration {}, {} messages of {} bytes in all, {:.6g} s of local work, {}",
      name_of(point), outcome.iteration, totals.messages, to_bytes(totals.words).value(),
      totals.work.value(), time);
  return 0;
}

}  // namespace

void add_export(Command& app) {
  auto flags = std::make_shared<ExportFlags>();
  Command command = app.add_subcommand(
      "export", "Write the messages of a point as a schedule for other simulators");
  command.add_option("--config", flags->config, "JSON file with the point; flags override it")
      .value_text("FILE");
  add_schedule_flags(command, flags->schedule, ScheduleUse::write);
  add_setting_flags(command, flags->given);
  command.add_option("--set", flags->settings, "any other key of a point: --set options.tau=32")
      .value_text("KEY=VALUE");
  command.add_flag("--verbose", flags->verbose, "let SimGrid's log through to stderr");
  command.first({"--scheme", "--ranks", "--components", "--density", "--goal", "--chakra"});
  command.footer(
      "A schedule has every rank's messages with their sizes, its local work, and what each of\n"
      "these waits for, as in the last of the --iterations. A sparse scheme's sizes depend on\n"
      "the gradients, so another input has another schedule. 'thinwire run --goal' and\n"
      "'run --chakra' simulate it, on any network.\n"
      "Examples:\n"
      "  thinwire export --scheme oktopk -P 16 -n 1M --goal oktopk.goal\n"
      "  thinwire export --scheme dense_ring -P 8 -n 25.5M --chakra ring/");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
