#include "sim/app/experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/by_layer.hpp"
#include "algorithms/error_feedback.hpp"
#include "algorithms/registry.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/measures.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/workloads/device.hpp"
#include "traces/profile_source.hpp"
#include "traces/shipped.hpp"
#include "traces/synthetic.hpp"
#include "traces/trace_source.hpp"

namespace thinwire::experiment {

namespace {

/// The state of one rank, kept across iterations.
struct RankState {
  std::unique_ptr<algorithms::Scheme> scheme;
  algorithms::ErrorFeedback feedback;
  algorithms::Reduced reduced;
};

/// Runs the allreduce alone, after the time of its call, or a training iteration around it.
Task<void> iterate(Communicator& comm, RankState& rank, algorithms::LocalGradient gradient,
                   int iteration, Seconds call, const workloads::Training* training) {
  Task<algorithms::Reduced> task =
      training == nullptr
          ? rank.scheme->allreduce(comm, std::move(gradient), iteration)
          : train_iteration(comm, *rank.scheme, *training, std::move(gradient), iteration);
  gradient = {};
  co_await comm.compute(call);
  rank.reduced = co_await std::move(task);
}

/// The training around the scheme, and the number of samples per rank.
struct TrainingSetup {
  workloads::Training training;
  std::int64_t batch = 0;
  std::vector<std::int64_t> tensors;
  std::vector<std::int64_t> layers;
};

std::optional<TrainingSetup> training_of(const Point& point) {
  const Workload& workload = point.workload;
  if (workload.model.empty()) return std::nullopt;
  const workloads::Model model = workloads::read_model(workloads::model_file(workload.model));
  const workloads::Device device = workloads::read_device(workloads::device_file(workload.device));
  TrainingSetup setup{
      .training = {.compute = workloads::compute_times(model, device.name, workload.batch),
                   .prices = device.prices(workload.staging),
                   .space = point.space,
                   .feedback = workload.feedback},
      .batch = workload.batch,
      .tensors = model.tensors(),
      .layers = {}};
  for (const workloads::ModelLayer& layer : model.layers) {
    setup.layers.push_back(layer.components());
  }
  if (setup.batch == 0) setup.batch = workloads::compute_on(model, device.name).batch;
  if (model.components != point.space.components) {
    throw InputError(fmt::format("/components: {}, but the model {} has {}", point.space.components,
                                 model.name, model.components));
  }
  return setup;
}

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

algorithms::LocalGradient gradient_of(const traces::GradientSource& source, const RankState& state,
                                      Rank rank, int iteration, bool dense) {
  if (dense) return state.feedback.accumulate(source.dense(rank, iteration));
  return state.feedback.accumulate(source.sparse(rank, iteration));
}

bool equal(const Stream& a, const Stream& b) {
  if (a.index() != b.index()) return false;
  if (const auto* sparse = std::get_if<SparseVector>(&a)) {
    return thinwire::equal(*sparse, std::get<SparseVector>(b));
  }
  return thinwire::equal(std::get<DenseBlock>(a), std::get<DenseBlock>(b));
}

/// Whether all ranks hold the same result. Of a reduce-scatter: whether their blocks, by rank, are
/// the whole; of an all-to-all: whether they received as much as they sent.
bool results_agree(algorithms::Collective collective, const std::vector<RankState>& ranks,
                   const GradientSpace& space) {
  const auto same = [&](const RankState& rank) {
    return equal(rank.reduced.sum, ranks.front().reduced.sum);
  };
  if (same_on_all_ranks(collective)) return std::ranges::all_of(ranks, same);
  const bool joined = collective == algorithms::Collective::reduce_scatter;
  std::int64_t received = 0;
  for (const RankState& rank : ranks) {
    const auto& block = std::get<DenseBlock>(rank.reduced.sum);
    if (joined && block.first() != received) return false;
    received += static_cast<std::int64_t>(block.size());
  }
  const auto senders = static_cast<std::int64_t>(joined ? 1 : ranks.size());
  return received == senders * space.coordinates();
}

std::int64_t components_of(const Stream& stream, const GradientSpace& space) {
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    return static_cast<std::int64_t>(sparse->size()) * space.granule;
  }
  const auto& block = std::get<DenseBlock>(stream);
  return space.component(block.last()) - space.component(block.first());
}

template <class Get>
Spread spread_of(const std::vector<Traffic>& totals, Get get) {
  Spread spread;
  double sum = 0;
  for (const Traffic& total : totals) {
    spread.max = std::max(spread.max, get(total));
    sum += static_cast<double>(get(total));
  }
  spread.mean = sum / static_cast<double>(totals.size());
  return spread;
}

std::vector<PhaseCost> phases_of(const RunReport& report) {
  std::vector<PhaseCost> phases;
  for (std::size_t i = 0; i < report.phases.size(); ++i) {
    PhaseCost cost{.name = report.phases[i], .time = {}, .words_received = {}};
    bool used = false;
    for (const RankReport& rank : report.ranks) {
      if (i >= rank.by_phase.size()) continue;
      const Traffic& traffic = rank.by_phase[i];
      cost.time = std::max(cost.time, traffic.time);
      cost.words_received = std::max(cost.words_received, traffic.words_received);
      cost.messages_received = std::max(cost.messages_received, traffic.messages_received);
      used = used || traffic.messages_sent + traffic.messages_received > 0 ||
             traffic.time > Seconds(0);
    }
    if (used) phases.push_back(std::move(cost));
  }
  return phases;
}

std::vector<RankPhase> by_rank(const RunReport& report) {
  std::vector<RankPhase> all;
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const std::vector<Traffic>& phases = report.ranks[rank].by_phase;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const Traffic& traffic = phases[i];
      if (traffic.messages_sent + traffic.messages_received == 0 && traffic.time == Seconds(0)) {
        continue;
      }
      all.push_back(
          {.rank = static_cast<int>(rank), .phase = report.phases[i], .traffic = traffic});
    }
  }
  return all;
}

Rank last_rank(const RunReport& report) {
  const auto last = std::ranges::max_element(report.ranks, {}, &RankReport::finished);
  return Rank(static_cast<std::int32_t>(last - report.ranks.begin()));
}

/// Sorts links by the share of the makespan in which they were busy, descending, then by name.
std::vector<LinkReport> by_heat(std::vector<LinkReport> links) {
  std::ranges::stable_sort(links, std::greater{}, &LinkReport::mean_utilisation);
  return links;
}

std::optional<SelectionSummary> selection_of(const std::vector<RankState>& ranks, bool dense) {
  if (dense) return std::nullopt;
  SelectionSummary summary{.least = INT64_MAX, .sent_least = INT64_MAX};
  const auto most = [](std::int64_t& target, std::int64_t value) {
    target = std::max(target, value);
  };
  for (const RankState& rank : ranks) {
    const algorithms::SelectionReport& report = rank.reduced.selection;
    if (!report.took_part) continue;
    ++summary.ranks;
    summary.least = std::min(summary.least, report.selected);
    summary.total += report.selected;
    most(summary.most, report.selected);
    summary.sent_least = std::min(summary.sent_least, report.sent);
    most(summary.sent_most, report.sent);
    most(summary.work.scanned, report.work.scanned);
    most(summary.work.compared, report.work.compared);
    most(summary.work.sorted, report.work.sorted);
    most(summary.work.hashed, report.work.hashed);
    most(summary.work.sampled, report.work.sampled);
    most(summary.work.prefix_summed, report.work.prefix_summed);
    most(summary.work.retries, report.work.retries);
  }
  if (summary.ranks == 0) return std::nullopt;  // there was nothing to select from
  return summary;
}

/// The L2 norm of a residual, whose values are exact: only such gradients take error feedback.
double norm_of(const Stream& residual, const GradientSpace& space) {
  if (const auto* sparse = std::get_if<SparseVector>(&residual)) {
    const Moments moments = moments_of(*sparse, space);
    return std::hypot(moments.mean, moments.deviation) *
           std::sqrt(static_cast<double>(space.components));
  }
  const auto& block = std::get<DenseBlock>(residual);
  double squares = 0;
  std::int64_t coordinate = block.first();
  for (const double value : block.values()) {
    squares += static_cast<double>(space.width(coordinate++)) * value * value;
  }
  return std::sqrt(squares);
}

std::unique_ptr<traces::GradientSource> source_of(const Point& point) {
  const Input& input = point.input;
  if (!input.trace.empty()) {
    traces::TraceReader reader(traces::trace_file(input.trace));
    check_trace(point, reader.header());
    return std::make_unique<traces::TraceSource>(std::move(reader));
  }
  if (input.profile.empty()) {
    return std::make_unique<traces::SyntheticSource>(
        traces::SyntheticSettings{.ranks = point.ranks,
                                  .space = point.space,
                                  .k = point.k,
                                  .seed = point.seed,
                                  .overlap = input.overlap,
                                  .skew = input.skew,
                                  .drift = input.drift,
                                  .tail = input.tail,
                                  .scale_drift = input.scale_drift});
  }
  const traces::Profile profile = traces::read_profile(traces::profile_file(input.profile));
  const traces::ProfileSettings settings{.family = input.family,
                                         .space = point.space,
                                         .k = point.k,
                                         .seed = point.seed,
                                         .start_up = input.start_up,
                                         .reach = input.reach};
  if (input.statistical)
    return std::make_unique<traces::StatisticalProfileSource>(profile, settings);
  return std::make_unique<traces::ExactProfileSource>(profile, settings);
}

/// What else a run does. It does not change the reported iteration.
struct RunExtras {
  std::function<void(int iteration)> after_iteration = {};
  Timeline* timeline = nullptr;
  bool kinds = false;  ///< also the kinds of iterations that are not among the first ones
};

Outcome run_iterations(Network& network, const Point& point, const Machine& machine,
                       const RunExtras& extras) {
  Timeline* const timeline = extras.timeline;
  algorithms::SchemeInfo info = algorithms::find_scheme(point.scheme);
  const std::unique_ptr<traces::GradientSource> source = source_of(point);
  SharedWork shared(4 * static_cast<std::size_t>(point.ranks));
  const std::optional<TrainingSetup> training = training_of(point);
  if (training && point.workload.by_layer) {
    info = algorithms::layer_by_layer(info, training->layers);
  }
  const algorithms::Options options(info.options, point.options);
  if (training && point.tensors.empty() && options.all().contains("tensor_selection")) {
    for (const std::int64_t size : training->tensors) {
      if (size % point.space.granule == 0) continue;
      throw InputError(fmt::format("/granule: {} does not divide the model's tensor of {}",
                                   point.space.granule, size));
    }
  }
  if (point.input.trace.empty() && info.sparsifier == "hard_threshold" &&
      options.flag("published")) {
    throw InputError(
        "/options/published: 1/(2 sqrt(k)) is in the units of real gradients, and synthetic ones "
        "and profiles have a scale of their own; give a trace, or options.threshold");
  }
  const WorkPrices prices = training ? training->training.prices : WorkPrices{};
  const Gamma gamma = training ? Gamma(prices.reduce.element, prices.scatter.element)
                               : Gamma(point.machine.gamma(point.space.components));
  algorithms::SchemeSetup setup{
      .ranks = point.ranks,
      .space = point.space,
      .k = point.k,
      .gamma = gamma,
      .copy_per_word = point.machine.copy(point.space.components),
      .prices = prices,
      .on_device = training.has_value(),
      .options = options,
      .shared = &shared,
      .alpha = machine.alpha,
      .beta_per_word = machine.beta_per_word,
      .seed = point.seed,
      .tensors = training && point.tensors.empty() ? training->tensors : point.tensors};

  if (info.settle && !point.input.start_up) {
    setup.settled = info.settle(
        setup, [&](Rank rank, int iteration) { return source->sparse(rank, iteration); });
  }

  std::vector<RankState> ranks(static_cast<std::size_t>(point.ranks));
  for (RankState& rank : ranks) rank.scheme = info.make(setup);

  Outcome outcome;
  if (setup.settled.iterations > 0) outcome.settling_iterations = setup.settled.iterations;
  RunReport report;
  network.record(timeline);
  bool agree = true;
  std::vector<IterationKind> kinds;
  std::vector<algorithms::LocalGradient> accumulated;
  const auto simulate = [&](int iteration) {
    accumulated.assign(point.error_feedback ? ranks.size() : 0, {});
    RunReport simulated = network.run(point.ranks, [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value());
      algorithms::LocalGradient gradient =
          gradient_of(*source, ranks[at], comm.rank(), iteration, info.dense);
      if (point.error_feedback) accumulated[at] = gradient;
      return iterate(comm, ranks[at], std::move(gradient), iteration, point.machine.call,
                     training ? &training->training : nullptr);
    });
    if (!std::isfinite(simulated.makespan().value())) networks::throw_time_overflow();
    agree = agree && results_agree(info.collective_kind, ranks, point.space);
    shared.clear();
    return simulated;
  };
  for (const workloads::WeightedIteration which : iterations_of(point, info, options)) {
    const int iteration = which.iteration;
    if (timeline != nullptr) timeline->begin_iteration(iteration);
    report = simulate(iteration);
    outcome.iteration_times.push_back(report.makespan());
    if (timeline != nullptr) timeline->end_iteration(report.makespan());
    if (training) kinds.push_back({which, workloads::parts_of(report)});
    outcome.iteration = iteration;
    if (extras.after_iteration) extras.after_iteration(iteration);
    if (!point.error_feedback) continue;
    double error = 0;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      ranks[at].feedback.update(accumulated[at], ranks[at].reduced.contributed);
      error += norm_of(ranks[at].feedback.residual(), point.space);
    }
    outcome.global_errors.push_back(error / point.ranks);
  }

  std::vector<Traffic> totals;
  for (const RankReport& rank : report.ranks) totals.push_back(rank.total());
  outcome.steps = report.steps();
  outcome.last_rank = last_rank(report);
  outcome.messages_sent = spread_of(totals, [](const Traffic& t) { return t.messages_sent; });
  outcome.messages_received =
      spread_of(totals, [](const Traffic& t) { return t.messages_received; });
  outcome.words_sent = spread_of(totals, [](const Traffic& t) { return t.words_sent.value(); });
  outcome.words_received =
      spread_of(totals, [](const Traffic& t) { return t.words_received.value(); });
  outcome.phases = phases_of(report);
  outcome.links = by_heat(std::move(report.links));
  if (point.record.ranks) outcome.by_rank = by_rank(report);
  outcome.result_components = components_of(ranks.front().reduced.sum, point.space);
  outcome.selection = selection_of(ranks, info.dense);
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
      ready_(find_network(point.network).make(point, settings_.verbose)) {}

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

void check_timeline(const Point& point, const TimelineSettings& settings) {
  if (!find_network(point.network).has_clock) {
    throw InputError(
        fmt::format("the network {} has no clock, so there is no timeline", point.network));
  }
  for (const Rank rank : settings.ranks) {
    if (rank.value() >= 0 && rank.value() < point.ranks) continue;
    throw InputError(fmt::format("there is no rank {} of {} for the timeline; ranks are 0 to {}",
                                 rank.value(), point.ranks, point.ranks - 1));
  }
}

Outcome Simulation::run(Timeline* timeline) {
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
