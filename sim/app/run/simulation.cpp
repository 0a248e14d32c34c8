#include "sim/app/run/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/extrapolation.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/core/base/children.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/recording.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/representatives.hpp"
#include "sim/machine/networks/counting/counting.hpp"

namespace thinwire::run {

namespace {

/// The iterations to run; without a workload the last one is reported.
std::vector<workloads::WeightedIteration> iterations_of(const plan::Point& point,
                                                        const algorithms::SchemeInfo& info,
                                                        const algorithms::Options& options) {
  if (point.iterations == 0) return workloads::kinds_of_iterations(info, options);
  std::vector<workloads::WeightedIteration> all;
  for (int i = 1; i <= point.iterations; ++i) all.push_back({i, 1.0 / point.iterations, false});
  return all;
}

/// One iteration of each kind of a scheme with periods, for Outcome::kinds.
std::vector<workloads::WeightedIteration> kinds_of(const plan::Point& point,
                                                   const PointRanks& of_point) {
  const bool has_clock = plan::find_network(point.network).has_clock;
  if (of_point.training() || point.error_feedback || !has_clock) return {};
  return workloads::kinds_from_run(of_point.info(), of_point.setup().options, point.iterations);
}

results::TrainingOutcome training_outcome(std::vector<results::IterationKind> kinds,
                                          std::int64_t samples) {
  results::TrainingOutcome outcome{.mean = {}, .kinds = std::move(kinds)};
  for (const results::IterationKind& kind : outcome.kinds) {
    outcome.mean.computation += kind.parts.computation * kind.which.weight;
    outcome.mean.sparsification += kind.parts.sparsification * kind.which.weight;
    outcome.mean.communication += kind.parts.communication * kind.which.weight;
  }
  const double time = outcome.mean.total().value();
  outcome.samples_per_s = time > 0 ? static_cast<double>(samples) / time : 0;
  return outcome;
}

/// Sorts links by the share of the makespan in which they were busy, descending, then by name.
std::vector<LinkReport> by_heat(std::vector<LinkReport> links) {
  std::ranges::stable_sort(links, std::greater{}, &LinkReport::mean_utilisation);
  return links;
}

/// An iteration of a run.
struct PlannedIteration {
  workloads::WeightedIteration which;
  bool only_for_kind = false;  ///< after the reported iteration, since none before is of its kind
};

/// The iterations of a run in their order. The last one of the point is reported. `kinds`: also
/// those that only stand for their kind.
std::vector<PlannedIteration> plan_of(const plan::Point& point, const PointRanks& of_point,
                                      bool kinds) {
  const algorithms::SchemeInfo& info = of_point.info();
  const algorithms::Options& options = of_point.setup().options;
  std::vector<PlannedIteration> plan;
  for (const workloads::WeightedIteration which : iterations_of(point, info, options)) {
    plan.push_back({which});
  }
  if (!kinds) return plan;
  for (const workloads::WeightedIteration which : kinds_of(point, of_point)) {
    if (which.iteration > point.iterations) plan.push_back({which, true});
  }
  return plan;
}

/// A network on which the ranks run that the point simulates.
std::unique_ptr<Network> for_ranks_of(const plan::Point& point, std::unique_ptr<Network> network) {
  if (point.representatives == 0) return network;
  // The same ranks run on all networks that a point needs.
  const bool next_to_each_other = plan::find_network(point.network).congests ||
                                  algorithms::find_scheme(point.scheme).adds_in_nodes;
  const auto which =
      next_to_each_other ? networks::Representatives::first : networks::Representatives::spread;
  return std::make_unique<networks::RepresentativesNetwork>(
      std::move(network), point.representatives, std::make_unique<ConcatenationRenamer>(), which);
}

/// What a run is for, besides its outcome.
struct Wanted {
  Timeline* timeline = nullptr;  ///< of the iterations of the point, if not null
  Schedule* schedule = nullptr;  ///< of the reported iteration, if not null
  bool kinds = true;             ///< also the iterations that only stand for their kind
};

/// The ranks of a point, which go through its iterations one after the other.
class PointRun {
 public:
  PointRun(const plan::Point& point, const plan::Machine& machine)
      : point_(point), machine_(machine), of_point_(point, machine) {
    ranks_.resize(static_cast<std::size_t>(point.simulated_ranks()));
    for (RankState& rank : ranks_) rank = of_point_.make_rank();
  }

  [[nodiscard]] const PointRanks& of_point() const { return of_point_; }

  /// Simulates an iteration; the outcome is that of a run of this iteration alone.
  results::Outcome simulate(Network& network, workloads::WeightedIteration which,
                            const Wanted& wanted) {
    network.record(wanted.timeline);
    if (wanted.timeline != nullptr) wanted.timeline->begin_iteration(which.iteration);
    RunReport report = run(network, which.iteration, wanted.schedule);
    constexpr double kLongest = 1e300;  // so that the sum over a million iterations is a number
    if (!(report.makespan().value() <= kLongest)) networks::throw_time_overflow();
    if (wanted.timeline != nullptr) wanted.timeline->end_iteration(report.makespan());
    const algorithms::SchemeInfo& info = of_point_.info();
    results::Outcome outcome;
    outcome.iteration = which.iteration;
    outcome.machine = machine_;
    outcome.ranks_agree = results_agree(info.collective_kind, ranks_, point_.space);
    end_iteration(outcome);
    outcome.iteration_times = {report.makespan()};
    if (const auto& training = of_point_.training()) {
      const double share = 1.0 / training->training.local_steps;  // one step, in the mean
      outcome.iteration_times = {report.makespan() * share};
      outcome.training = training_outcome({{which, workloads::parts_of(report) * share}},
                                          training->batch * point_.ranks);
    }
    add_costs(report, point_.record.ranks, outcome);
    outcome.links = by_heat(std::move(report.links));
    outcome.result_components = components_of(ranks_.front().reduced.sum, point_.space);
    std::vector<algorithms::SelectionReport> selections;
    for (const RankState& rank : ranks_) selections.push_back(rank.reduced.selection);
    outcome.selection = selection_of(selections, info.dense);
    return outcome;
  }

  /// Takes the ranks through an iteration that others may depend on, on the counting network. What
  /// they keep of it does not depend on times.
  void pass(int iteration) {
    if (of_point_.info().independent_iterations && !point_.error_feedback) return;
    run(*for_ranks_of(point_, std::make_unique<networks::CountingNetwork>()), iteration, nullptr);
    results::Outcome ignored;
    end_iteration(ignored);
  }

 private:
  RunReport run(Network& network, int iteration, Schedule* schedule) {
    accumulated_.assign(point_.error_feedback ? ranks_.size() : 0, {});
    RankProgram program = [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value()) % ranks_.size();
      algorithms::LocalGradient gradient = of_point_.gradient(ranks_[at], comm.rank(), iteration);
      if (point_.error_feedback) accumulated_[at] = gradient;
      return of_point_.iterate(comm, ranks_[at], std::move(gradient), iteration);
    };
    if (schedule != nullptr) {
      schedule->assign(ranks_.size(), {});
      program = recorded(std::move(program), *schedule);
    }
    return network.run(point_.ranks, program);
  }
  /// Forgets what only this iteration needs, and keeps what did not contribute.
  void end_iteration(results::Outcome& outcome) {
    of_point_.end_iteration();
    if (!point_.error_feedback) return;
    double error = 0;
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      ranks_[at].feedback.update(accumulated_[at], ranks_[at].reduced);
      error += norm_of(ranks_[at].feedback.residual(), point_.space);
    }
    outcome.global_errors = {error / point_.ranks};
  }

  const plan::Point& point_;
  const plan::Machine& machine_;
  PointRanks of_point_;
  std::vector<RankState> ranks_;
  std::vector<algorithms::LocalGradient> accumulated_;
};

/// The outcome of a run from the outcomes of its iterations.
results::Outcome joined(const plan::Point& point, const PointRanks& of_point,
                        const std::vector<PlannedIteration>& plan,
                        const std::vector<results::Outcome>& each) {
  results::Outcome outcome;
  std::vector<Seconds> times;
  std::vector<double> errors;
  std::vector<results::IterationKind> trained;
  bool agree = true;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    agree = agree && each[i].ranks_agree;
    if (plan[i].only_for_kind) continue;
    outcome = each[i];
    times.push_back(each[i].time());
    errors.insert(errors.end(), each[i].global_errors.begin(), each[i].global_errors.end());
    if (each[i].training) trained.push_back(each[i].training->kinds.front());
  }
  outcome.iteration_times = std::move(times);
  outcome.global_errors = std::move(errors);
  outcome.ranks_agree = agree;
  for (const workloads::WeightedIteration which : kinds_of(point, of_point)) {
    const auto at = std::ranges::find(each, which.iteration, &results::Outcome::iteration);
    if (at != each.end()) outcome.kinds.push_back({which, at->time()});
  }
  if (const auto& training = of_point.training()) {
    outcome.training = training_outcome(std::move(trained), training->batch * point.ranks);
  }
  of_point.say_how_settled(outcome);
  return outcome;
}

/// Simulates the iterations one after the other, in this process.
results::Outcome run_in_turn(const plan::Point& point, const ReadyNetwork& ready,
                             const Wanted& wanted, const SimulationSettings& settings) {
  PointRun run(point, ready.machine);
  const std::vector<PlannedIteration> plan = plan_of(point, run.of_point(), wanted.kinds);
  std::vector<results::Outcome> each;
  for (const PlannedIteration& planned : plan) {
    each.push_back(
        run.simulate(*ready.network, planned.which, planned.only_for_kind ? Wanted() : wanted));
    if (settings.after_iteration) settings.after_iteration(planned.which.iteration);
  }
  return joined(point, run.of_point(), plan, each);
}

std::unique_ptr<Network> alphabeta_for(const plan::Point& point, const plan::Machine& machine) {
  return for_ranks_of(point,
                      alphabeta_of(machine, machine.host_for(point.space.components, point.seed)));
}

/// The time of the reported iteration on the α-β machine.
Seconds time_on_alphabeta(const plan::Point& point, const plan::Machine& machine) {
  PointRun run(point, machine);
  const std::vector<PlannedIteration> plan = plan_of(point, run.of_point(), false);
  for (const PlannedIteration& before : std::span(plan).first(plan.size() - 1)) {
    run.pass(before.which.iteration);
  }
  return run.simulate(*alphabeta_for(point, machine), plan.back().which, {}).time();
}

/// That of a child that gives it as JSON, when it has ended.
results::Outcome outcome_of_child(Children& children, std::size_t child,
                                  const plan::Machine& machine) {
  const Json json = Json::parse(children.ended(child).outcome().text);
  return results::outcome_from(JsonNode("a child process", json), machine);
}

/// Whether what is simulated in a process of its own has the same digits as elsewhere.
bool may_fork(const plan::NetworkInfo& network) {
  return network.has_clock && !network.clock_goes_on;
}

/// Simulates each iteration, and the reported one also on the α-β machine if `alphabeta`, in a
/// child process of its own. This process takes the ranks from one iteration to the next.
results::Outcome run_at_once(const plan::Point& point, const ReadyNetwork& ready, bool alphabeta,
                             const SimulationSettings& settings) {
  PointRun run(point, ready.machine);
  const std::vector<PlannedIteration> plan = plan_of(point, run.of_point(), true);
  const std::unique_ptr<Network> companion =
      alphabeta ? alphabeta_for(point, ready.machine) : nullptr;
  if (plan.size() == 1 && !alphabeta) return run_in_turn(point, ready, {}, settings);
  Children children(settings.processes, {}, settings.verbose);
  const auto start = [&](Network& network, const PlannedIteration& planned) {
    children.start(
        {.run = [&] { return to_json(run.simulate(network, planned.which, {}), true).dump(); }});
    return children.size() - 1;
  };
  std::vector<std::size_t> started;  // the children of the plan
  std::optional<std::size_t> on_alphabeta;
  std::exception_ptr trouble;
  for (std::size_t i = 0; i < plan.size() && !trouble; ++i) {
    const bool last = i + 1 == plan.size();
    started.push_back(start(*ready.network, plan[i]));
    const bool reported = !plan[i].only_for_kind && (last || plan[i + 1].only_for_kind);
    if (reported && alphabeta) on_alphabeta = start(*companion, plan[i]);
    try {
      if (!last) run.pass(plan[i].which.iteration);
    } catch (const SimulationError&) {
      trouble = std::current_exception();  // unless the network has a better reason
    }
  }
  const auto outcome_of = [&](std::size_t child) {
    return outcome_of_child(children, child, ready.machine);
  };
  std::vector<results::Outcome> each;
  for (const std::size_t child : started) each.push_back(outcome_of(child));
  if (trouble) std::rethrow_exception(trouble);
  results::Outcome outcome = joined(point, run.of_point(), plan, each);
  if (on_alphabeta) outcome.alphabeta_time = outcome_of(*on_alphabeta).time();
  return outcome;
}

/// Simulates a point, and the reported iteration on the α-β machine too if its flows share links.
results::Outcome run_iterations(const plan::Point& point, const ReadyNetwork& ready,
                                const Wanted& wanted, const SimulationSettings& settings) {
  const plan::NetworkInfo& network = plan::find_network(point.network);
  const bool alphabeta = settings.alphabeta && network.congests;
  const bool several = settings.processes > 1;
  const bool recording = wanted.timeline != nullptr || wanted.schedule != nullptr;
  if (several && !recording && may_fork(network)) {
    return run_at_once(point, ready, alphabeta, settings);
  }
  std::optional<ChildProcess> beside;
  if (several && alphabeta) {
    beside.emplace(ChildWork{
        .run = [&] { return fmt::format("{}", time_on_alphabeta(point, ready.machine).value()); }});
  }
  results::Outcome outcome = run_in_turn(point, ready, wanted, settings);
  if (beside) {
    beside->wait();
    outcome.alphabeta_time = Seconds(std::stod(beside->outcome().text));
  } else if (alphabeta) {
    outcome.alphabeta_time = time_on_alphabeta(point, ready.machine);
  }
  return outcome;
}

/// Simulates the shorter points of an extrapolation, each in a child process of its own where there
/// are processes.
std::vector<results::Outcome> outcomes_of(const Extrapolation& how, const ReadyNetwork& ready,
                                          const SimulationSettings& settings) {
  std::vector<results::Outcome> outcomes;
  if (settings.processes == 1 || !may_fork(plan::find_network(how.points.front().point.network))) {
    for (const ShorterPoint& one : how.points) {
      outcomes.push_back(run_iterations(one.point, ready, {}, settings));
    }
    return outcomes;
  }
  const auto count = static_cast<int>(how.points.size());
  SimulationSettings of_each = settings;
  of_each.processes = std::max(1, settings.processes / count);
  Children children(std::min(settings.processes, count), {}, settings.verbose);
  // The longest one first, which leaves cores idle for the shortest time.
  for (std::size_t i = how.points.size(); i-- > 0;) {
    children.start({.run = [&ready, &of_each, &point = how.points[i].point] {
      return to_json(run_iterations(point, ready, {}, of_each), true).dump();
    }});
  }
  for (std::size_t child = how.points.size(); child-- > 0;) {
    outcomes.push_back(outcome_of_child(children, child, ready.machine));
  }
  return outcomes;
}

}  // namespace

Simulation::Simulation(const plan::Point& point, SimulationSettings settings)
    : point_(point),
      settings_(std::move(settings)),
      ready_(make_network(point, settings_.verbose)) {
  ready_.network = for_ranks_of(point, std::move(ready_.network));
}

results::Outcome Simulation::run() { return run(nullptr); }

results::Outcome Simulation::run(const TimelineSettings& settings) {
  check_timeline(point_, settings);
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  results::Outcome outcome = run(timeline_.get());
  if (!settings.last || timeline_->shows(outcome.last_rank)) return outcome;
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  timeline_->show(outcome.last_rank);
  (void)run_in_turn(point_, ready_, {.timeline = timeline_.get(), .kinds = false}, {});
  return outcome;
}

results::Outcome Simulation::run(Schedule& schedule) {
  if (point_.representatives > 0) {
    throw InputError("/representatives: a schedule is that of all ranks; leave it out");
  }
  if (point_.extrapolate_chunks > 0) {
    throw InputError("/extrapolate_chunks: a schedule is that of all chunks; leave it out");
  }
  results::Outcome outcome = run(nullptr, &schedule);
  separate_strands(schedule);
  return outcome;
}

void check_timeline(const plan::Point& point, const TimelineSettings& settings) {
  if (!plan::find_network(point.network).has_clock) {
    throw InputError(
        fmt::format("the network {} has no clock, so there is no timeline", point.network));
  }
  if (point.representatives > 0) {
    throw InputError("/representatives: a timeline is that of all ranks; leave it out");
  }
  if (point.extrapolate_chunks > 0) {
    throw InputError("/extrapolate_chunks: a timeline is that of all chunks; leave it out");
  }
  for (const Rank rank : settings.ranks) {
    if (rank.value() >= 0 && rank.value() < point.ranks) continue;
    throw InputError(fmt::format("there is no rank {} of {} for the timeline; ranks are 0 to {}",
                                 rank.value(), point.ranks, point.ranks - 1));
  }
}

results::Outcome Simulation::run(Timeline* timeline, Schedule* schedule) {
  const std::optional<Extrapolation> shorter = extrapolation_of(point_, ready_.machine);
  if (!shorter) {
    return run_iterations(point_, ready_, {.timeline = timeline, .schedule = schedule}, settings_);
  }
  return extrapolated(point_, *shorter, outcomes_of(*shorter, ready_, settings_));
}

}  // namespace thinwire::run
