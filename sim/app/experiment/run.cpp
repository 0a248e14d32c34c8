#include "sim/app/experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/ranks.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/recording.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/representatives.hpp"

namespace thinwire::experiment {

namespace {

/// The iterations to run; without a workload the last one is reported.
std::vector<workloads::WeightedIteration> iterations_of(const Point& point,
                                                        const algorithms::SchemeInfo& info,
                                                        const algorithms::Options& options) {
  if (point.iterations == 0) return workloads::kinds_of_iterations(info, options);
  std::vector<workloads::WeightedIteration> all;
  for (int i = 1; i <= point.iterations; ++i) all.push_back({i, 1.0 / point.iterations, false});
  return all;
}

TrainingOutcome training_outcome(std::vector<IterationKind> kinds, std::int64_t samples) {
  TrainingOutcome outcome{.mean = {}, .kinds = std::move(kinds)};
  for (const IterationKind& kind : outcome.kinds) {
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

/// What else a run does. It does not change the reported iteration.
struct RunExtras {
  std::function<void(int iteration)> after_iteration = {};
  Timeline* timeline = nullptr;
  Schedule* schedule = nullptr;  ///< the operations of the reported iteration, if not null
  bool kinds = false;            ///< also the kinds of iterations that are not among the first ones
};

Outcome run_iterations(Network& network, const Point& point, const Machine& machine,
                       const RunExtras& extras) {
  Timeline* const timeline = extras.timeline;
  PointRanks of_point(point, machine);
  const algorithms::SchemeInfo& info = of_point.info();
  const algorithms::Options& options = of_point.setup().options;
  const std::optional<TrainingSetup>& training = of_point.training();

  std::vector<RankState> ranks(static_cast<std::size_t>(point.simulated_ranks()));
  for (RankState& rank : ranks) rank = of_point.make_rank();

  Outcome outcome;
  const algorithms::SettledState& settled = of_point.setup().settled;
  if (settled.iterations > 0) outcome.settling_iterations = settled.iterations;
  outcome.settling_cut_short = settled.cut_short;
  RunReport report;
  network.record(timeline);
  bool agree = true;
  std::vector<IterationKind> kinds;
  std::vector<algorithms::LocalGradient> accumulated;
  Schedule* schedule = extras.schedule;
  const auto simulate = [&](int iteration) {
    accumulated.assign(point.error_feedback ? ranks.size() : 0, {});
    RankProgram program = [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value()) % ranks.size();
      algorithms::LocalGradient gradient = of_point.gradient(ranks[at], comm.rank(), iteration);
      if (point.error_feedback) accumulated[at] = gradient;
      return of_point.iterate(comm, ranks[at], std::move(gradient), iteration);
    };
    if (schedule != nullptr) {
      schedule->assign(ranks.size(), {});
      program = recorded(std::move(program), *schedule);
    }
    RunReport simulated = network.run(point.ranks, program);
    if (!std::isfinite(simulated.makespan().value())) networks::throw_time_overflow();
    agree = agree && results_agree(info.collective_kind, ranks, point.space);
    of_point.end_iteration();
    return simulated;
  };
  for (const workloads::WeightedIteration which : iterations_of(point, info, options)) {
    const int iteration = which.iteration;
    if (timeline != nullptr) timeline->begin_iteration(iteration);
    report = simulate(iteration);
    // One of the local steps, in the mean.
    const double share = training ? 1.0 / training->training.local_steps : 1;
    outcome.iteration_times.push_back(report.makespan() * share);
    if (timeline != nullptr) timeline->end_iteration(report.makespan());
    if (training) kinds.push_back({which, workloads::parts_of(report) * share});
    outcome.iteration = iteration;
    if (extras.after_iteration) extras.after_iteration(iteration);
    if (!point.error_feedback) continue;
    double error = 0;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      ranks[at].feedback.update(accumulated[at], ranks[at].reduced);
      error += norm_of(ranks[at].feedback.residual(), point.space);
    }
    outcome.global_errors.push_back(error / point.ranks);
  }

  schedule = nullptr;

  add_costs(report, point.record.ranks, outcome);
  outcome.links = by_heat(std::move(report.links));
  outcome.result_components = components_of(ranks.front().reduced.sum, point.space);
  std::vector<algorithms::SelectionReport> selections;
  for (const RankState& rank : ranks) selections.push_back(rank.reduced.selection);
  outcome.selection = selection_of(selections, info.dense);
  outcome.machine = machine;
  if (extras.kinds && !training && !point.error_feedback) {
    network.record(nullptr);
    for (const workloads::WeightedIteration which :
         workloads::kinds_from_run(info, options, point.iterations)) {
      const bool known = which.iteration <= point.iterations;
      const Seconds time =
          known ? outcome.iteration_times.at(static_cast<std::size_t>(which.iteration - 1))
                : simulate(which.iteration).makespan();
      outcome.kinds.push_back({which, time});
    }
  }
  outcome.ranks_agree = agree;
  if (training) {
    outcome.training = training_outcome(std::move(kinds), training->batch * point.ranks);
  }
  return outcome;
}

}  // namespace

double SelectionSummary::deviation(std::int64_t k, bool together) const {
  if (k == 0) return 0;
  const double wanted = static_cast<double>(k) * (together ? 1 : ranks);
  return static_cast<double>(total) / wanted - 1;
}

std::vector<KindTime> Outcome::kinds_of_all() const {
  if (!training) return kinds;
  std::vector<KindTime> all;
  for (const IterationKind& kind : training->kinds) {
    all.push_back({kind.which, kind.parts.total()});
  }
  return all;
}

std::optional<Seconds> Outcome::steady_time() const {
  const std::vector<KindTime> all = kinds_of_all();
  const auto steady = std::ranges::find_if(
      all, [](const KindTime& kind) { return kind.which.weight > 0 && !kind.which.periodic; });
  const bool periodic =
      std::ranges::any_of(all, [](const KindTime& kind) { return kind.which.periodic; });
  if (!periodic || steady == all.end()) return std::nullopt;
  return steady->time;
}

std::optional<Seconds> Outcome::periodic_time() const {
  std::optional<Seconds> longest;
  for (const KindTime& kind : kinds_of_all()) {
    if (kind.which.weight == 0 || !kind.which.periodic) continue;
    longest = std::max(longest.value_or(kind.time), kind.time);
  }
  return longest;
}

Seconds Outcome::mean_time() const {
  Seconds sum;
  const std::vector<KindTime> all = kinds_of_all();
  for (const KindTime& kind : all) sum += kind.time * kind.which.weight;
  if (!all.empty()) return sum;
  for (const Seconds time : iteration_times) sum += time;
  return sum * (1 / static_cast<double>(iteration_times.size()));
}

std::optional<double> Outcome::congestion_factor() const {
  if (!alphabeta_time) return std::nullopt;
  if (time() == *alphabeta_time) return 1;
  return time().value() / alphabeta_time->value();
}

std::optional<std::string> restriction_of(const Point& point) {
  return algorithms::find_scheme(point.scheme).restriction(point.ranks, point.space.components);
}

Simulation::Simulation(const Point& point, SimulationSettings settings)
    : point_(point),
      settings_(std::move(settings)),
      ready_(find_network(point.network).make(point, settings_.verbose)) {
  if (point.representatives > 0) {
    ready_.network = std::make_unique<networks::RepresentativesNetwork>(
        std::move(ready_.network), point.representatives, std::make_unique<ConcatenationRenamer>());
  }
}

Outcome Simulation::run() { return run(nullptr); }

Outcome Simulation::run(const TimelineSettings& settings) {
  check_timeline(point_, settings);
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  Outcome outcome = run(timeline_.get());
  if (!settings.last || timeline_->shows(outcome.last_rank)) return outcome;
  timeline_ = std::make_unique<Timeline>(settings.ranks, settings.most_events);
  timeline_->show(outcome.last_rank);
  (void)run_iterations(*ready_.network, point_, ready_.machine, {.timeline = timeline_.get()});
  return outcome;
}

Outcome Simulation::run(Schedule& schedule) {
  if (point_.representatives > 0) {
    throw InputError("/representatives: a schedule is that of all ranks; leave it out");
  }
  Outcome outcome = run(nullptr, &schedule);
  separate_strands(schedule);
  return outcome;
}

void check_timeline(const Point& point, const TimelineSettings& settings) {
  if (!find_network(point.network).has_clock) {
    throw InputError(
        fmt::format("the network {} has no clock, so there is no timeline", point.network));
  }
  if (point.representatives > 0) {
    throw InputError("/representatives: a timeline is that of all ranks; leave it out");
  }
  for (const Rank rank : settings.ranks) {
    if (rank.value() >= 0 && rank.value() < point.ranks) continue;
    throw InputError(fmt::format("there is no rank {} of {} for the timeline; ranks are 0 to {}",
                                 rank.value(), point.ranks, point.ranks - 1));
  }
}

Outcome Simulation::run(Timeline* timeline, Schedule* schedule) {
  const AlphaBetaTime alphabeta = settings_.alphabeta;
  const bool both = alphabeta != AlphaBetaTime::none && find_network(point_.network).congests;
  const auto on_alphabeta = [this] {
    return run_iterations(*alphabeta_of(ready_.machine, ready_.machine.host_for(
                                                            point_.space.components, point_.seed)),
                          point_, ready_.machine, {})
        .time();
  };
  std::optional<ChildProcess> beside;
  if (both && alphabeta == AlphaBetaTime::beside) {
    beside.emplace(ChildWork{.run = [&] { return fmt::format("{}", on_alphabeta().value()); }});
  }
  Outcome outcome = run_iterations(*ready_.network, point_, ready_.machine,
                                   {.after_iteration = settings_.after_iteration,
                                    .timeline = timeline,
                                    .schedule = schedule,
                                    .kinds = find_network(point_.network).has_clock});
  if (beside) {
    beside->wait();
    outcome.alphabeta_time = Seconds(std::stod(beside->outcome().text));
  } else if (both) {
    outcome.alphabeta_time = on_alphabeta();
  }
  return outcome;
}

}  // namespace thinwire::experiment
