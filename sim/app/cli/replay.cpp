#include "sim/app/cli/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/cli/points.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/schedules/chakra.hpp"
#include "sim/machine/schedules/goal.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::cli {

namespace {

/// Of the settings of a point, a schedule reads those of the network.
void check_setting(const std::string& path, const std::string& flag) {
  if (path == "seed") return;
  const plan::Setting& setting = plan::setting_at(path);
  const bool for_schemes =  // sums, copies, calls
      std::ranges::any_of(setting.when, [](const auto* one) { return one->of_scheme != nullptr; });
  if (setting.aspect == plan::Aspect::place && !for_schemes) return;
  throw InputError(fmt::format(
      "{}: a schedule does not read it: the file says what the ranks do; leave it out", flag));
}

Schedule schedule_of(const ScheduleFlags& flags) {
  if (flags.goal.empty()) return schedules::read_chakra(flags.chakra);
  return schedules::from_goal(read_text(flags.goal), flags.goal, Seconds(flags.unit));
}

/// One run, in a process of its own: SimGrid loads one platform a process.
Json replay(const plan::Point& point, const Schedule& schedule, bool verbose) {
  const auto network = std::make_shared<run::ReadyNetwork>();
  ChildProcess child({.subject = point.platform.empty() ? point.network : point.platform,
                      .prepare = [&] { *network = run::make_network(point, verbose); },
                      .run =
                          [&] {
                            const RunReport report =
                                network->network->run(point.ranks, schedules::replay_of(schedule));
                            const double time = report.makespan().value();
                            if (!std::isfinite(time)) networks::throw_time_overflow();
                            return Json{{"time_s", time}, {"steps", report.steps()}}.dump();
                          }},
                     {}, verbose);
  child.wait();
  return Json::parse(child.outcome().text);
}

}  // namespace

void add_schedule_flags(Command& command, ScheduleFlags& flags, ScheduleUse use) {
  const bool reads = use == ScheduleUse::read;
  Option goal =
      command.add_option("--goal", flags.goal,
                         reads ? "simulate the schedule of this GOAL text (LogGOPSim, ATLAHS)"
                               : "write the schedule as GOAL text (LogGOPSim, ATLAHS)");
  goal.value_text("FILE");
  command
      .add_option("--chakra", flags.chakra,
                  reads ? "simulate the Chakra traces NAME.0.et, NAME.1.et ... of this folder"
                        : "write the schedule as Chakra traces (ASTRA-sim), one a rank")
      .value_text("FOLDER");
  command.add_option("--time-unit", flags.unit, "what 1 means in GOAL's times of local work")
      .needs(goal)
      .range(1e-18, 1.0)
      .unit("s")
      .value_text("SECONDS [1ns]");
}

int run_schedule(const ScheduleFlags& flags, const Json& given,
                 const std::vector<std::string>& settings, bool verbose, report::Format format) {
  if (!flags.goal.empty() && !flags.chakra.empty()) {
    throw InputError("--chakra: give --goal or --chakra, not both");
  }
  for (const auto& item : given.items()) {
    check_setting(item.key(), plan::setting_at(item.key()).flag_name());
  }
  for (const std::string& setting : settings) {
    check_setting(setting.substr(0, setting.find('=')), "--set " + setting);
  }
  const Schedule schedule = schedule_of(flags);
  Json all = given;
  all["ranks"] = schedule.size();
  all["scheme"] = "dense_ring";  // one that runs for any number of ranks, of which nothing is read
  const schedules::ScheduleTotals totals = schedules::totals_of(schedule);
  std::vector<Json> records;
  const std::vector<plan::Point> points = points_of("", all, settings);
  prepare_for_packets(points, "");
  for (const plan::Point& point : points) {
    const Json result = replay(point, schedule, verbose);
    const bool clock = plan::find_network(point.network).has_clock;
    records.push_back({{"schema", "replay/1"},
                       {"schedule", flags.goal.empty() ? flags.chakra : flags.goal},
                       {"network", point.network},
                       {"platform", point.platform.empty() ? Json() : Json(point.platform)},
                       {"ranks", schedule.size()},
                       {"operations", totals.operations},
                       {"messages", totals.messages},
                       {"bytes", to_bytes(totals.words).value()},
                       {"work_s", totals.work.value()},
                       {"time_s", clock ? result.at("time_s") : Json()},
                       {"steps", clock ? Json() : result.at("steps")}});
  }
  const auto steps_or_time = [](const Json& r) {
    return r.at("steps").is_null() ? report::number_text(r.at("time_s"))
                                   : r.at("steps").dump() + " steps";
  };
  std::vector<report::Column> columns{report::text_column("schedule", "schedule"),
                                      report::text_column("network", "network")};
  if (std::ranges::any_of(records, [](const Json& r) { return !r.at("platform").is_null(); })) {
    columns.push_back(report::text_column("platform", "platform"));
  }
  for (const char* key : {"ranks", "operations", "messages", "bytes", "work_s"}) {
    columns.push_back(report::number_column(key, key));
  }
  columns.push_back({"time_s", steps_or_time});
  fmt::print("{}", report::render(format, records, columns));
  return 0;
}

}  // namespace thinwire::cli
