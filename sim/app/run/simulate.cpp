#include "sim/app/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/core/base/children.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/printable.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::run {

namespace {

constexpr const char* kPacketsHint =
    "(ns-3 takes one zone of hosts with one link each to their switch, as gige_star has)";

/// The subject of an error message about the network.
std::string subject_of(const plan::Point& point) {
  if (point.platform.empty()) return point.network;
  std::string file = topologies::platform_file(point.platform);
  if (!point.packets) return file;
  return fmt::format("{}, with packets {}", file, kPacketsHint);
}

/// What no memory holds and nobody waits for is refused before it begins.
void check_messages(const plan::Point& point) {
  results::Row row;
  row.point = point;
  const double messages = point.simulated_ranks() * compare(row, 0).cost.run().high.messages;
  constexpr double kMost = 1e11;
  if (messages <= kMost) return;
  throw InputError(
      fmt::format("/ranks: {} ranks send about {:.1g} messages in an iteration of {}, and {:.0g} "
                  "at most can be "
                  "simulated; take fewer ranks",
                  point.ranks, messages, point.scheme, kMost));
}

/// Runs a simulation, with its timeline where there is to be one.
Json result_of(Simulation& simulation, bool has_clock, const TimelineWish* timeline) {
  if (timeline == nullptr) return to_json(simulation.run(), has_clock);
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

/// How one of `points` points runs. A limit of memory is that of one process, so a point with a limit
/// has one; so has a short simulation, for which starting others takes longer.
SimulationSettings settings_of(const plan::Point& point, std::size_t points,
                               const ProcessSettings& settings) {
  constexpr double kShort = 0.5;  // seconds
  const bool alone = settings.limits.memory_bytes || estimated_wall_s(point) < kShort;
  const int share = settings.at_once / static_cast<int>(points);
  return {.verbose = settings.verbose, .processes = alone ? 1 : std::max(1, share)};
}

}  // namespace

std::optional<ChildWork> work_of(const plan::Point& point, const SimulationSettings& settings,
                                 const TimelineWish* timeline) {
  if (plan::restriction_of(point)) return std::nullopt;
  const auto simulation = std::make_shared<std::optional<Simulation>>();
  const bool has_clock = plan::find_network(point.network).has_clock;
  return ChildWork{
      .subject = subject_of(point),
      .prepare =
          [simulation, point, settings] {
            check_messages(point);
            simulation->emplace(point, settings);
          },
      .run = [simulation, has_clock,
              timeline] { return result_of(**simulation, has_clock, timeline).dump(); }};
}

results::Row row_of(const std::string& sweep, const plan::Point& point, const ChildProcess* child,
                    TimelineWish* timeline) {
  results::Row row = results::failed_row(sweep, point, {});
  if (child == nullptr) {
    row.status = results::Status::skipped;
    row.reason = plan::restriction_of(point).value();
    return row;
  }
  row.wall_s = child->wall_s();
  try {
    const ChildOutcome ended = child->outcome();
    const Json result = Json::parse(ended.text);
    const std::string origin = "the simulation";
    row.outcome = results::outcome_from(JsonNode(origin, result), point.machine);
    if (timeline != nullptr) timeline->told = result.at("timeline").get<std::string>();
    row.peak_rss_bytes = ended.peak_rss_bytes;
    if (!row.outcome->ranks_agree) {
      throw SimulationError("the ranks ended with different reduced gradients");
    }
    row.status = results::Status::ok;
  } catch (const SimulationError& error) {
    row.reason = printable(error.what());
    if (point.packets) row.reason += fmt::format("; with packets {}", kPacketsHint);
    row.outcome.reset();
  } catch (const std::bad_alloc&) {
    row.reason = point.input.statistical || point.space.granule >= point.k
                     ? "out of memory; fewer ranks need less"
                     : "out of memory; a larger granule carries less";
  }
  return row;
}

results::Row row_of_several(const std::string& sweep, const plan::Point& point,
                            const ChildProcess* child) {
  try {
    return row_of(sweep, point, child);
  } catch (const TooFewHostsError& error) {
    results::Row row = results::failed_row(sweep, point, error.what());
    row.status = results::Status::skipped;
    return row;
  }
}

results::Row simulate_point(const std::string& sweep, const plan::Point& point,
                            const ProcessSettings& settings, TimelineWish* timeline) {
  std::optional<ChildWork> work = work_of(point, settings_of(point, 1, settings), timeline);
  if (!work) return row_of(sweep, point, nullptr);
  ChildProcess child(std::move(*work), settings.limits, settings.verbose);
  child.wait();
  return row_of(sweep, point, &child, timeline);
}

void simulate_points(const std::string& sweep, const std::vector<plan::Point>& points,
                     const ProcessSettings& settings,
                     const std::function<void(results::Row)>& take) {
  Children children(settings.at_once, settings.limits, settings.verbose);
  std::vector<std::optional<std::size_t>> started;  // the child of each point
  std::size_t taken = 0;
  const auto take_next = [&] {
    const std::optional<std::size_t> index = started[taken];
    const plan::Point& point = points[taken++];
    const ChildProcess* const child = index ? &children.ended(*index) : nullptr;
    take(points.size() > 1 ? row_of_several(sweep, point, child) : row_of(sweep, point, child));
  };
  for (const plan::Point& point : points) {
    const std::optional<ChildWork> work =
        work_of(point, settings_of(point, points.size(), settings));
    if (work) children.start(*work);
    started.push_back(work ? std::optional(children.size() - 1) : std::nullopt);
    while (taken < started.size() && (!started[taken] || children.has_ended(*started[taken]))) {
      take_next();
    }
  }
  while (taken < started.size()) take_next();
}

}  // namespace thinwire::run
