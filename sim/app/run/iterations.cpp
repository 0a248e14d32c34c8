#include "sim/app/run/iterations.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "sim/app/run/networks.hpp"
#include "sim/core/kernel/recording.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/counting/counting.hpp"

namespace thinwire::run {

namespace {

/// Sorts links by the share of the makespan in which they were busy, descending, then by name.
std::vector<LinkReport> by_heat(std::vector<LinkReport> links) {
  std::ranges::stable_sort(links, std::greater{}, &LinkReport::mean_utilisation);
  return links;
}

}  // namespace

IterationRun::IterationRun(const Part& part, const plan::Machine& machine)
    : part_(part), point_(part.point), machine_(machine), of_point_(part.point, machine) {
  ranks_.resize(static_cast<std::size_t>(point_.simulated_ranks()));
  for (RankState& rank : ranks_) rank = of_point_.make_rank();
}

void IterationRun::pass_before(std::size_t at) {
  const bool independent = of_point_.info().independent_iterations && !point_.error_feedback;
  for (; passed_ < at; ++passed_) {
    if (independent) continue;
    const auto counting = for_ranks_of(point_, std::make_unique<networks::CountingNetwork>());
    run(*counting, part_.iterations[passed_].which.iteration, nullptr);
    results::Outcome ignored;
    end_iteration(ignored);
  }
}

results::Outcome IterationRun::simulate(Network& network, std::size_t at,
                                        const Recorders& recorders) {
  const PlannedIteration& planned = part_.iterations[at];
  Timeline* const timeline = planned.only_for_kind ? nullptr : recorders.timeline;
  Schedule* const schedule = planned.only_for_kind ? nullptr : recorders.schedule;
  const int iteration = planned.which.iteration;
  network.record(timeline);
  if (timeline != nullptr) timeline->begin_iteration(iteration);
  RunReport report = run(network, iteration, schedule);
  constexpr double kLongest = 1e300;  // so that the sum over a million iterations is a number
  if (!(report.makespan().value() <= kLongest)) networks::throw_time_overflow();
  if (timeline != nullptr) timeline->end_iteration(report.makespan());
  const algorithms::SchemeInfo& info = of_point_.info();
  results::Outcome outcome;
  outcome.iteration = iteration;
  outcome.machine = machine_;
  outcome.ranks_agree = results_agree(info.collective_kind, ranks_, point_.space);
  end_iteration(outcome);
  outcome.iteration_times = {report.makespan()};
  if (const auto& training = of_point_.training()) {
    const double share = 1.0 / training->training.local_steps;  // one step, in the mean
    outcome.iteration_times = {report.makespan() * share};
    outcome.training = training_outcome({{planned.which, workloads::parts_of(report) * share}},
                                        training->batch * point_.data_ranks());
  }
  add_costs(report, point_.record.ranks, outcome);
  outcome.links = by_heat(std::move(report.links));
  outcome.result_components = components_of(ranks_.front().reduced.sum, point_.space);
  std::vector<algorithms::SelectionReport> selections;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (point_.in_first_group(rank)) selections.push_back(ranks_[rank].reduced.selection);
  }
  outcome.selection = selection_of(selections, info.dense);
  outcome.compressed_tensors = selections.front().compressed_tensors;
  of_point_.say_how_settled(outcome);
  passed_ = at + 1;
  return outcome;
}

RunReport IterationRun::run(Network& network, int iteration, Schedule* schedule) {
  RankProgram program = [&](Communicator& comm) {
    const auto at = static_cast<std::size_t>(comm.rank().value()) % ranks_.size();
    return of_point_.iterate(comm, ranks_[at], iteration);
  };
  if (schedule != nullptr) {
    schedule->assign(ranks_.size(), {});
    program = recorded(std::move(program), *schedule);
  }
  return network.run(point_.ranks, program);
}

/// Forgets what only this iteration needs, and keeps what did not contribute.
void IterationRun::end_iteration(results::Outcome& outcome) {
  of_point_.end_iteration();
  if (!point_.error_feedback) return;
  double error = 0;
  for (RankState& rank : ranks_) {
    of_point_.feed_back(rank);
    error += norm_of(rank.feedback.residual(), point_.space);
  }
  outcome.global_errors = {error / point_.ranks};
}

}  // namespace thinwire::run
