#include "sim/app/cli/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/cli/collectives.hpp"
#include "sim/app/cli/points.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/run/executor.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/split.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/schedules/chakra.hpp"
#include "sim/machine/schedules/goal.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::cli {

namespace {

/// Refuses settings of a point that a schedule does not read: it reads the settings of the network.
void check_setting(const std::string& path, const std::string& flag) {
  if (path == "seed") return;
  const plan::Setting& setting = plan::setting_at(path);
  const bool for_schemes =  // sums, copies, calls
      std::ranges::any_of(setting.when, [](const auto* one) { return one->of_scheme != nullptr; });
  if (setting.aspect == plan::Aspect::place && !for_schemes) return;
  throw InputError("{}: a schedule does not read it: the file says what the ranks do; leave it out",
                   flag);
}

constexpr const char* kEager = "machine.eager_bytes";

/// Whether a network knows eager messages. Elsewhere the replay does.
bool knows_eager(const plan::NetworkInfo& network) {
  return plan::setting_at(kEager).networks.has(network.id);
}

/// The eager limits that are given, taken out of `given` and `settings`, where one of the networks
/// does not know eager messages and would refuse them. Otherwise none.
std::vector<Bytes> take_eager(Json& given, std::vector<std::string>& settings) {
  Json networks = given.contains("network") ? given.at("network") : Json();
  for (const std::string& setting : settings) {
    if (setting.starts_with("network=")) networks = setting.substr(8);
  }
  if (!networks.is_array()) networks = Json::array({networks});
  const auto refuses = [](const Json& network) {
    return !network.is_null() && !knows_eager(plan::find_network(network.get<std::string>()));
  };
  if (std::ranges::none_of(networks, refuses)) return {};
  Json value;
  if (given.contains(kEager)) value = given.at(kEager);
  for (const std::string& setting : settings) {
    if (setting.starts_with(std::string(kEager) + "=")) {
      value = value_from(kEager, setting.substr(setting.find('=') + 1));
    }
  }
  if (value.is_null()) return {};
  if (!value.is_array()) value = Json::array({value});
  std::vector<Bytes> limits;
  for (const Json& one : value) {
    if (!one.is_number() || one < 0) return {};  // refused as in other runs
    limits.emplace_back(one.get<std::int64_t>());
  }
  given.erase(kEager);
  std::erase_if(settings, [](const std::string& setting) {
    return setting.starts_with(std::string(kEager) + "=");
  });
  return limits;
}

schedules::ReadSchedule schedule_of(const ScheduleFlags& flags) {
  if (flags.goal.empty()) return schedules::read_chakra(flags.chakra, flags.groups);
  return schedules::from_goal(read_text(flags.goal), flags.goal, Seconds(flags.unit));
}

/// One run, in a process of its own: SimGrid loads one platform a process.
Json replay(const plan::Point& point, const schedules::ReadSchedule& schedule, Bytes eager,
            const CollectiveSchemes& schemes, bool verbose) {
  // Without a clock, sends wait for nothing, and a deadlock would not be seen.
  if (!point.network->has_clock) schedules::check_progress(schedule, eager);
  const auto network = std::make_shared<run::ReadyNetwork>();
  run::Executor executor({.verbose = verbose});
  const std::size_t number = executor.start(
      {.subject = point.platform.empty() ? point.network->name : point.platform,
       .prepare = [&] { *network = run::make_network(point, verbose); },
       .run =
           [&] {
             TraceCollectives collectives(point, network->machine, schemes);
             const RunReport report = network->network->run(
                 point.ranks,
                 schedules::replay_of(schedule,
                                      {.eager_here = knows_eager(*point.network) ? Bytes(0) : eager,
                                       .collective = [&](Communicator& group,
                                                         const schedules::CollectiveCall& call) {
                                         return collectives.run(group, call);
                                       }}));
             const double time = report.makespan().value();
             if (!std::isfinite(time)) networks::throw_time_overflow();
             return Json{{"time_s", time}, {"steps", report.steps()}}.dump();
           }});
  try {
    return Json::parse(executor.take(number)->outcome().text);
  } catch (const SimulationError&) {
    schedules::check_progress(schedule, eager);  // which knows the places in the file
    throw;
  }
}

CollectiveSchemes schemes_of(const ScheduleFlags& flags) {
  for (const auto& [flag, is_given] : {std::pair{"--collective", !flags.collectives.empty()},
                                       std::pair{"--groups", !flags.groups.empty()}}) {
    if (is_given && flags.chakra.empty()) {
      throw InputError("{}: it is about Chakra traces; give --chakra, or leave it out", flag);
    }
  }
  CollectiveSchemes schemes;
  for (const std::string& list : flags.collectives) {
    for (const std::string& one : thinwire::split(list)) schemes.set(one);
  }
  return schemes;
}

/// The points with the limit of eager sends that holds for each: one of `limits`, if there are any,
/// the point's own where one is given, else the file's.
std::vector<std::pair<plan::Point, Bytes>> runs_of(const std::vector<plan::Point>& points,
                                                   const std::vector<Bytes>& limits, bool is_given,
                                                   const schedules::ReadSchedule& schedule) {
  std::vector<std::pair<plan::Point, Bytes>> runs;
  for (const plan::Point& point : points) {
    const Bytes of_point = is_given ? point.machine.host.eager : schedule.eager;
    for (const Bytes eager : limits.empty() ? std::vector{of_point} : limits) {
      runs.emplace_back(point, eager);
      if (knows_eager(*point.network)) runs.back().first.machine.host.eager = eager;
    }
  }
  return runs;
}

/// What is known of a run before it.
Json replay_record(const schedules::ReadSchedule& schedule, const schedules::ScheduleTotals& totals,
                   const plan::Point& point, Bytes eager) {
  return {{"schema", "replay/1"},
          {"schedule", schedule.origin},
          {"network", point.network->name},
          {"platform", point.platform.empty() ? Json() : Json(point.platform)},
          {"ranks", schedule.ops.size()},
          {"eager_bytes", eager == schedules::kAllEager ? Json() : Json(eager.value())},
          {"operations", totals.operations},
          {"messages", totals.messages},
          {"bytes", to_bytes(totals.words).value()},
          {"work_s", totals.work.value()}};
}

std::vector<report::Column> replay_columns(const std::vector<Json>& records) {
  std::vector<report::Column> columns;
  report::add_columns(columns, {"schedule", "network"});
  if (std::ranges::any_of(records, [](const Json& r) { return !r.at("platform").is_null(); })) {
    report::add_columns(columns, {"platform"});
  }
  report::add_columns(columns, {"ranks", "operations", "messages", "bytes", "work_s"});
  columns.push_back({"eager", [](const Json& r) {
                       const Json& eager = r.at("eager_bytes");
                       return eager.is_null() ? "all" : report::text_of_value("_bytes", eager);
                     }});
  columns.push_back(report::steps_or_time());
  return columns;
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
  if (reads) {
    command
        .add_option("--collective", flags.collectives,
                    "schemes that do the collectives of Chakra traces: allreduce, allgather, "
                    "reduce_scatter, alltoall")
        .value_text("COLLECTIVE=SCHEME,... [allreduce=dense_auto,...]");
    command
        .add_option("--groups", flags.groups,
                    "JSON file with the ranks of the process groups of Chakra traces "
                    "(docs/how-to/other-tools.md)")
        .value_text("FILE");
  }
  command.add_option("--time-unit", flags.unit, "what 1 means in GOAL's times of local work")
      .needs(goal)
      .range(1e-18, 1.0)
      .unit("s")
      .value_text("SECONDS [1ns]");
}

int run_schedule(const ScheduleFlags& flags, const Json& all_given,
                 const std::vector<std::string>& all_settings, bool verbose,
                 const report::View& view) {
  Json given = all_given;
  std::vector<std::string> settings = all_settings;
  if (!flags.goal.empty() && !flags.chakra.empty()) {
    throw InputError("--chakra: give --goal or --chakra, not both");
  }
  for (const auto& item : given.items()) {
    check_setting(item.key(), plan::setting_at(item.key()).flag_name());
  }
  for (const std::string& setting : settings) {
    check_setting(setting.substr(0, setting.find('=')), "--set " + setting);
  }
  const CollectiveSchemes schemes = schemes_of(flags);
  std::vector<Bytes> limits = take_eager(given, settings);
  const schedules::ReadSchedule schedule = schedule_of(flags);
  for (const std::string& note : schedule.notes) say("{}: {}", schedule.origin, note);
  Json all = given;
  all["ranks"] = schedule.ops.size();
  all["scheme"] = "dense_ring";  // one that runs for any number of ranks, of which nothing is read
  const schedules::ScheduleTotals totals = schedules::totals_of(schedule.ops);
  std::vector<Json> records;
  const bool is_given = given.contains("machine.eager_bytes") ||
                        std::ranges::any_of(settings, [](const std::string& setting) {
                          return setting.starts_with("machine.eager_bytes=");
                        });
  const std::vector<plan::Point> points = points_of("", all, settings);
  prepare_for_packets(points, "");
  for (const auto& [point, eager] : runs_of(points, limits, is_given, schedule)) {
    const Json result = replay(point, schedule, eager, schemes, verbose);
    Json record = replay_record(schedule, totals, point, eager);
    const bool clock = point.network->has_clock;
    record["time_s"] = clock ? result.at("time_s") : Json();
    record["steps"] = clock ? Json() : result.at("steps");
    records.push_back(std::move(record));
  }
  fmt::print("{}", report::render(view, records, replay_columns(records)));
  return 0;
}

}  // namespace thinwire::cli
