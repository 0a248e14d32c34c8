#include "sim/app/run/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::run {

namespace {

using results::Outcome;

/// The outcome of a part from the outcomes of its iterations.
Outcome joined(const Part& part, const std::vector<Outcome>& each) {
  Outcome outcome = each.at(part.reported);
  outcome.iteration_times.clear();
  outcome.global_errors.clear();
  std::vector<results::IterationKind> trained;
  for (std::size_t i = 0; i <= part.reported; ++i) {
    const std::vector<double>& errors = each[i].global_errors;
    outcome.iteration_times.push_back(each[i].time());
    outcome.global_errors.insert(outcome.global_errors.end(), errors.begin(), errors.end());
    if (each[i].training) trained.push_back(each[i].training->kinds.front());
  }
  outcome.ranks_agree = std::ranges::all_of(each, &Outcome::ranks_agree);
  for (const workloads::WeightedIteration& which : kinds_of(part.point)) {
    const auto at = std::ranges::find(each, which.iteration, &Outcome::iteration);
    if (at != each.end())
      outcome.kinds.push_back({which, at->time(), at->selection, at->result_components});
  }
  if (outcome.training) {
    outcome.training = training_outcome(std::move(trained), samples_of(part.point));
  }
  return outcome;
}

/// Takes what the process of a point found out. Throws as ChildProcess::outcome does.
void take_result(const plan::Point& point, const ChildProcess& process, EndedPoint& ended) {
  const ChildOutcome outcome = process.outcome();
  const Json result = Json::parse(outcome.text);
  ended.too_slow = result.contains(kTooSlow);
  if (ended.too_slow) throw SimulationError(result.at(kTooSlow).get<std::string>());
  ended.row.outcome = results::outcome_from(JsonNode("the simulation", result), point.machine);
  ended.told = result.value("timeline", "");
  ended.row.peak_rss_bytes = outcome.peak_rss_bytes;
  if (ended.row.outcome->ranks_agree) return;
  ended.row.outcome.reset();
  throw SimulationError("the ranks ended with different reduced gradients");
}

}  // namespace

Outcome join(const plan::Point& point, const Tasks& tasks,
             const std::vector<std::vector<Outcome>>& outcomes) {
  std::vector<std::vector<Outcome>> iterations(tasks.parts.size());
  std::vector<std::optional<Seconds>> companions(tasks.parts.size());
  for (std::size_t i = 0; i < tasks.list.size(); ++i) {
    const RunTask& task = tasks.list[i];
    if (task.purpose == Purpose::companion) {
      companions[task.part] = outcomes[i].front().time();
    } else {
      std::ranges::copy(outcomes[i], std::back_inserter(iterations[task.part]));
    }
  }
  std::vector<Outcome> parts;
  for (std::size_t at = 0; at < tasks.parts.size(); ++at) {
    parts.push_back(joined(tasks.parts[at], iterations[at]));
    parts.back().alphabeta_time = companions[at];
  }
  if (tasks.extrapolation) return extrapolated(point, *tasks.extrapolation, parts);
  return std::move(parts.front());
}

EndedPoint join(const std::string& sweep, const plan::Point& point, const ChildProcess* process) {
  EndedPoint ended{.row = results::failed_row(sweep, point, {})};
  results::Row& row = ended.row;
  if (process == nullptr) {
    row.status = results::Status::skipped;
    row.reason = plan::restriction_of(point).value();
    return ended;
  }
  row.wall_s = process->wall_s();
  try {
    take_result(point, *process, ended);
    row.status = results::Status::ok;
  } catch (const InputError& error) {
    const bool too_few_hosts = dynamic_cast<const TooFewHostsError*>(&error) != nullptr;
    if (too_few_hosts) row.status = results::Status::skipped;
    row.reason = printable(error.what());
    ended.refused = std::current_exception();
  } catch (const SimulationError& error) {
    row.reason = printable(error.what());
    if (ended.too_slow) row.status = results::Status::skipped;
    if (point.packets) row.reason += fmt::format("; with packets {}", kPacketsHint);
  } catch (const std::bad_alloc&) {
    row.reason = point.input.statistical || point.space.granule >= point.k
                     ? "out of memory; fewer ranks need less"
                     : "out of memory; a larger granule carries less";
  }
  return ended;
}

}  // namespace thinwire::run
