#include "sim/app/run/simulation.hpp"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/executor.hpp"
#include "sim/app/run/join.hpp"
#include "sim/app/run/tasks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/recording.hpp"

namespace thinwire::run {

namespace {

using results::Outcome;

/// Whether iterations that are simulated in processes of their own have the same digits.
bool may_fork(const plan::NetworkInfo& network) {
  return network.has_clock && !network.clock_goes_on;
}

std::unique_ptr<Network> alphabeta_for(const plan::Point& point, const plan::Machine& machine) {
  return for_ranks_of(point,
                      alphabeta_of(machine, machine.host_for(point.space.components, point.seed)));
}

/// Refuses what few ranks or chunks that stand for all cannot show.
void refuse_few(const plan::Point& point, const char* what) {
  if (point.approximate == 0) return;
  throw InputError("/approximate: {} needs all ranks and chunks; leave it out", what);
}

/// Runs the tasks of a point on its network: here, or in processes of their own.
class TaskRunner {
 public:
  /// All outlive it.
  TaskRunner(const Tasks& tasks, const ReadyNetwork& ready, const SimulationSettings& settings)
      : tasks_(tasks), ready_(ready), settings_(settings) {}

  /// Runs all tasks here; `beside`: the companions in processes of their own meanwhile.
  std::vector<std::vector<Outcome>> in_turn(const Recorders& recorders, bool beside) {
    Executor executor(processes());
    std::vector<std::optional<std::size_t>> started(tasks_.list.size());
    for (std::size_t i = 0; i < started.size(); ++i) {
      const RunTask& task = tasks_.list[i];
      if (!beside || task.purpose == Purpose::outcome) continue;
      started[i] = executor.start({.run = [&] { return text_of(here(task, {}).front()); }});
    }
    std::vector<std::vector<Outcome>> outcomes(started.size());
    for (std::size_t i = 0; i < started.size(); ++i) {
      if (!started[i]) outcomes[i] = here(tasks_.list[i], recorders);
    }
    for (std::size_t i = 0; i < started.size(); ++i) {
      if (started[i]) outcomes[i] = {taken(executor, *started[i])};
    }
    return outcomes;
  }
  /// Runs each task, of one iteration each, in a process of its own. The ranks of each part go from
  /// one iteration to the next in this process.
  std::vector<std::vector<Outcome>> at_once() {
    Executor executor(processes());
    std::vector<std::unique_ptr<IterationRun>> ranks(tasks_.parts.size());
    std::size_t started = 0;
    std::exception_ptr trouble;
    for (const RunTask& task : tasks_.list) {
      std::unique_ptr<IterationRun>& of_part = ranks[task.part];
      if (!of_part) of_part = std::make_unique<IterationRun>(part_of(task), ready_.machine);
      try {
        of_part->pass_before(task.first);
      } catch (const SimulationError&) {
        trouble = std::current_exception();  // unless the network has a better reason
        break;
      }
      executor.start({.run = [&] { return text_of(simulated(task, *of_part, {}).front()); }});
      ++started;
    }
    std::vector<std::vector<Outcome>> outcomes;
    for (std::size_t i = 0; i < started; ++i) outcomes.push_back({taken(executor, i)});
    if (trouble) std::rethrow_exception(trouble);
    return outcomes;
  }

 private:
  [[nodiscard]] ProcessSettings processes() const {
    return {.at_once = settings_.processes, .verbose = settings_.verbose};
  }
  [[nodiscard]] const Part& part_of(const RunTask& task) const { return tasks_.parts[task.part]; }

  /// Simulates a task with ranks of its own.
  [[nodiscard]] std::vector<Outcome> here(const RunTask& task, const Recorders& recorders) const {
    IterationRun ranks(part_of(task), ready_.machine);
    ranks.pass_before(task.first);
    return simulated(task, ranks, recorders);
  }
  /// Simulates a task with ranks that have gone through the iterations before.
  [[nodiscard]] std::vector<Outcome> simulated(const RunTask& task, IterationRun& ranks,
                                               const Recorders& recorders) const {
    std::vector<Outcome> outcomes;
    const bool companion = task.purpose == Purpose::companion;
    const auto alphabeta = companion ? alphabeta_for(part_of(task).point, ready_.machine) : nullptr;
    double left = companion ? std::numeric_limits<double>::infinity() : limit();
    for (std::size_t at = task.first; at < task.first + task.count; ++at) {
      const double weight = part_of(task).iterations[at].which.weight;
      const int steps = part_of(task).point.workload.local_steps;
      ready_.network->give_up_after(
          Seconds(weight > 0 ? left / weight * steps : std::numeric_limits<double>::infinity()));
      outcomes.push_back(companion ? ranks.simulate(*alphabeta, at)
                                   : ranks.simulate(*ready_.network, at, recorders));
      left -= weight * outcomes.back().time().value();
      if (settings_.after_iteration && !companion) {
        settings_.after_iteration(outcomes.back().iteration);
      }
    }
    return outcomes;
  }
  /// The seconds of an iteration in the mean beyond which nothing has to be known.
  [[nodiscard]] double limit() const {
    const bool whole = !tasks_.extrapolation && settings_.processes == 1;
    if (!whole || !settings_.give_up_after) return std::numeric_limits<double>::infinity();
    constexpr double kRounding = 1e-9;  // of sums of iterations
    return settings_.give_up_after() * (1 + kRounding);
  }
  static std::string text_of(const Outcome& outcome) { return to_json(outcome, true).dump(); }
  [[nodiscard]] Outcome taken(Executor& executor, std::size_t process) const {
    const Json json = Json::parse(executor.take(process)->outcome().text);
    return results::outcome_from(JsonNode("a child process", json), ready_.machine);
  }

  const Tasks& tasks_;
  const ReadyNetwork& ready_;
  const SimulationSettings& settings_;
};

}  // namespace

Simulation::Simulation(const plan::Point& point, SimulationSettings settings)
    : point_(point),
      settings_(std::move(settings)),
      ready_(make_network(point, settings_.verbose)) {
  ready_.network = for_ranks_of(point, std::move(ready_.network));
}

Outcome Simulation::run(const Recorders& recorders, Wanted wanted) {
  const bool several = settings_.processes > 1;
  wanted.one_by_one = several && !recorders.any() && may_fork(*point_.network);
  const Tasks tasks = tasks_of(point_, ready_.machine, wanted);
  TaskRunner runner(tasks, ready_, settings_);
  const bool at_once = wanted.one_by_one && tasks.list.size() > 1;
  return join(point_, tasks, at_once ? runner.at_once() : runner.in_turn(recorders, several));
}

Outcome Simulation::run() { return run({}, {.companion = settings_.alphabeta}); }

Outcome Simulation::run(const TimelineSettings& settings) {
  check_timeline(point_, settings);
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  Outcome outcome = run({.timeline = timeline_.get()}, {.companion = settings_.alphabeta});
  if (!settings.last || timeline_->shows(outcome.last_rank)) return outcome;
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  timeline_->show(outcome.last_rank);
  (void)run({.timeline = timeline_.get()}, {.kinds = false, .companion = false});
  return outcome;
}

Outcome Simulation::run(Schedule& schedule) {
  refuse_few(point_, "a schedule");
  Outcome outcome = run({.schedule = &schedule}, {.companion = settings_.alphabeta});
  separate_strands(schedule);
  return outcome;
}

void check_timeline(const plan::Point& point, const TimelineSettings& settings) {
  if (!point.network->has_clock) {
    throw InputError("the network {} has no clock, so there is no timeline", point.network->name);
  }
  refuse_few(point, "a timeline");
  for (const Rank rank : settings.ranks) {
    if (rank.value() >= 0 && rank.value() < point.ranks) continue;
    throw InputError("there is no rank {} of {} for the timeline; ranks are 0 to {}", rank.value(),
                     point.ranks, point.ranks - 1);
  }
}

}  // namespace thinwire::run
