#include "sim/app/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sim/app/results/compare.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/memory.hpp"
#include "topologies/loading/platform_xml.hpp"
#include "topologies/loading/shipped.hpp"
#include "topologies/loading/simgrid_module.hpp"

namespace thinwire::run {

namespace {

/// The subject of an error message about the network.
std::string subject_of(const plan::Point& point) {
  if (point.platform.empty()) return point.network->name;
  std::string file = topologies::kPlatforms.file(point.platform);
  if (!point.packets) return file;
  return fmt::format("{}, with packets {}", file, kPacketsHint);
}

/// What no memory holds and nobody waits for is refused before it begins.
void check_messages(const plan::Point& point) {
  const double messages = point.simulated_ranks() * results::cost_of(point).run().high.messages;
  constexpr double kMost = 1e11;
  if (messages <= kMost) return;
  throw InputError(
      "/ranks: {} ranks send about {:.1g} messages in an iteration of {}, and {:.0g} at most can "
      "be simulated; take fewer ranks",
      point.ranks, messages, point.scheme->name, kMost);
}

/// Refuses points that take more memory than there is: one, or those that run at once.
void check_memory(const std::vector<const plan::Point*>& points, const ProcessSettings& settings) {
  std::vector<double> bytes;
  for (const plan::Point* const point : points) {
    bytes.push_back(least_memory(*point));
    if (settings.limits.memory_bytes) {  // the simulation ends there
      bytes.back() = std::min(bytes.back(), static_cast<double>(*settings.limits.memory_bytes));
    }
    require_memory(bytes.back(),
                   fmt::format("{} of {} ranks and {} components", point->scheme->name,
                               point->ranks, point->space.components),
                   "take fewer ranks or components, or statistical values");
  }
  std::ranges::sort(bytes, std::ranges::greater());
  bytes.resize(std::min(bytes.size(), static_cast<std::size_t>(settings.at_once)));
  require_memory(std::accumulate(bytes.begin(), bytes.end(), 0.0),
                 fmt::format("{} points that run at once", bytes.size()),
                 "run fewer at once, with -j");
}

/// Runs a simulation, with its timeline where there is to be one.
Json result_of(Simulation& simulation, bool has_clock, const TimelineWish* timeline) {
  try {
    if (timeline == nullptr) return to_json(simulation.run(), has_clock);
  } catch (const TooSlowError& error) {
    Json ended = Json::object();
    ended[kTooSlow] = error.what();
    return ended;
  }
  const auto write = [&] {
    const Timeline* const seen = simulation.timeline();
    return seen == nullptr ? std::string() : timeline->write(*seen);
  };
  Json result;
  try {
    result = to_json(simulation.run(timeline->settings), has_clock);
  } catch (...) {
    (void)write();
    throw;
  }
  result["timeline"] = write();
  return result;
}

/// The processes of one of `points` points. A limit of memory holds for one process, so a point
/// with a limit has one; so has a short simulation, for which starting others takes longer.
int processes_of(double expected_s, std::size_t points, const ProcessSettings& settings) {
  constexpr double kShort = 0.5;  // seconds
  if (settings.limits.memory_bytes || expected_s < kShort) return 1;
  return std::max(1, settings.at_once / static_cast<int>(points));
}

}  // namespace

ChildWork work_of(const plan::Point& point, const SimulationSettings& settings,
                  const TimelineWish* timeline) {
  if (!point.platform.empty()) topologies::platform_functions();  // once, for all processes
  const auto simulation = std::make_shared<std::optional<Simulation>>();
  const bool has_clock = point.network->has_clock;
  return {.subject = subject_of(point),
          .prepare =
              [simulation, point, settings] {
                check_messages(point);
                simulation->emplace(point, settings);
              },
          .run = [simulation, has_clock,
                  timeline] { return result_of(**simulation, has_clock, timeline).dump(); }};
}

std::string Skipping::why(const plan::Point& point) {
  if (const auto restriction = plan::restriction_of(point)) return *restriction;
  // Files of placements may name a host several times, and nodes may carry any number of ranks.
  const bool one_each = point.placement == "block" || point.placement == "round_robin" ||
                        point.placement.starts_with("random:");
  if (point.platform.empty() || !one_each) return {};
  const auto [known, fresh] = hosts_.try_emplace(point.platform, 0);
  if (fresh) {
    known->second =
        topologies::read_platform_xml(topologies::kPlatforms.file(point.platform)).hosts;
  }
  if (point.ranks <= known->second) return {};
  return fmt::format("the platform has {} hosts, fewer than the {} ranks", known->second,
                     point.ranks);
}

plan::Machine machine_of(const plan::Point& point) {
  plan::Point end_to_end = point;
  end_to_end.network = "alphabeta";
  const auto machine = [&] {
    results::Outcome outcome;
    outcome.iteration_times = {Seconds(0)};
    outcome.machine = make_network(end_to_end, false).machine;
    return to_json(outcome, true).dump();
  };
  std::string text;
  const ChildOutcome outcome = in_child_process({.subject = subject_of(point),
                                                 .prepare = [&] { text = machine(); },
                                                 .run = [&] { return text; }});
  const Json json = Json::parse(outcome.text);
  return results::outcome_from(JsonNode("a child process", json), point.machine).machine;
}

std::vector<EndedPoint> run_points(const std::string& sweep, const std::vector<plan::Point>& points,
                                   const PointSettings& settings, const PointWatcher& watcher) {
  std::vector<Job> jobs;
  std::vector<const plan::Point*> running;
  std::vector<std::size_t> point_of;    // by job
  std::vector<std::size_t> restricted;  // points that have no job
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (plan::restriction_of(points[i])) {
      restricted.push_back(i);
      continue;
    }
    const double expected_s =
        settings.expected_s.empty() ? estimated_wall_s(points[i]) : settings.expected_s[i];
    const SimulationSettings simulation{
        .verbose = settings.processes.verbose,
        .alphabeta = settings.alphabeta,
        .processes = settings.give_up_after
                         ? 1
                         : processes_of(expected_s, points.size(), settings.processes),
        .give_up_after = settings.give_up_after
                             ? [&settings, i] { return settings.give_up_after(i); }
                             : std::function<double()>()};
    jobs.push_back({work_of(points[i], simulation, settings.timeline), expected_s});
    point_of.push_back(i);
    running.push_back(&points[i]);
  }
  check_memory(running, settings.processes);
  std::vector<EndedPoint> all(points.size());
  std::size_t skipped = 0;
  const auto end = [&](std::size_t point, const ChildProcess* process) {
    all[point] = join(sweep, points[point], process);
    if (watcher.ended) watcher.ended(point, all[point]);
  };
  const auto tell = [&](JobProgress now) {
    now.ended += skipped;
    if (watcher.progress) watcher.progress(now);
  };
  const auto progress = [&](const JobProgress& now) {
    while (skipped < restricted.size()) {  // at the begin
      end(restricted[skipped++], nullptr);
      tell(now);
    }
    tell(now);
  };
  run_jobs(
      jobs, settings.processes,
      {.started =
           [&](std::size_t job) {
             if (watcher.started) watcher.started(point_of[job]);
           },
       .ended = [&](std::size_t job, const ChildProcess& process) { end(point_of[job], &process); },
       .progress = progress});
  return all;
}

void simulate_points(const std::string& sweep, const std::vector<plan::Point>& points,
                     const ProcessSettings& settings, const std::function<void(results::Row)>& take,
                     const std::function<void(const JobProgress&)>& progress) {
  std::vector<std::optional<EndedPoint>> ended(points.size());
  std::size_t taken = 0;
  const auto take_next = [&](std::size_t point, const EndedPoint& one) {
    ended[point] = one;
    for (; taken < points.size() && ended[taken]; ++taken) {
      results::Row row = std::move(ended[taken]->row);
      const bool others = points.size() > 1 && row.status == results::Status::skipped;
      if (ended[taken]->refused && !others) std::rethrow_exception(ended[taken]->refused);
      take(std::move(row));
    }
  };
  try {
    static_cast<void>(run_points(sweep, points, {.processes = settings},
                                 {.ended = take_next, .progress = progress}));
  } catch (const InterruptedError&) {
    for (; taken < points.size(); ++taken) {  // points behind one that has not ended
      if (ended[taken] && !ended[taken]->refused) take(std::move(ended[taken]->row));
    }
    throw;
  }
}

results::Row simulate_point(const std::string& sweep, const plan::Point& point,
                            const ProcessSettings& settings) {
  results::Row row;
  simulate_points(sweep, {point}, settings, [&](results::Row one) { row = std::move(one); });
  return row;
}

}  // namespace thinwire::run
