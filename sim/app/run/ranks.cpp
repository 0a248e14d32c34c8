#include "sim/app/run/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/by_layer.hpp"
#include "sim/app/plan/approximate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/measures.hpp"
#include "sim/core/kernel/group.hpp"
#include "sim/core/kernel/slow_rank.hpp"
#include "sim/machine/workloads/device.hpp"
#include "traces/profile_source.hpp"
#include "traces/shipped.hpp"
#include "traces/synthetic.hpp"
#include "traces/trace_source.hpp"

namespace thinwire::run {

namespace {

std::optional<TrainingSetup> training_of(const plan::Point& point) {
  const plan::Workload& workload = point.workload;
  if (workload.model.empty()) return std::nullopt;
  const int tensor = point.parallel.tensor;
  const workloads::Model model =
      workloads::divided(workloads::read_model(workloads::kModels.file(workload.model)), tensor);
  const workloads::Device device =
      workloads::read_device(workloads::kDevices.file(workload.device));
  TrainingSetup setup{
      .training = {.compute = workloads::compute_times(model, device.name, workload.batch, tensor),
                   .prices = device.prices(workload.staging),
                   .space = point.space,
                   .feedback = workload.feedback,
                   .local_steps = workload.local_steps},
      .batch = workload.batch,
      .tensors = model.tensors(),
      .rows = model.rows(),
      .layers = {}};
  for (const workloads::ModelLayer& layer : model.layers) {
    setup.layers.push_back(layer.components());
  }
  if (setup.batch == 0) setup.batch = workloads::compute_on(model, device.name).batch;
  if (model.components != point.space.components) {
    throw InputError("/components: {}, but the model {} has {}", point.space.components, model.name,
                     model.components);
  }
  return setup;
}

std::shared_ptr<const traces::GradientSource> source_of(const plan::Point& point) {
  const plan::Input& input = point.input;
  if (!input.trace.empty()) {
    traces::TraceReader reader(traces::kTraces.file(input.trace));
    plan::check_trace(point, reader.header());
    return std::make_shared<traces::TraceSource>(std::move(reader));
  }
  if (input.profile.empty()) {
    return std::make_shared<traces::SyntheticSource>(
        traces::SyntheticSettings{.ranks = point.data_ranks(),
                                  .space = point.space,
                                  .k = point.k,
                                  .seed = point.seed,
                                  .overlap = input.overlap,
                                  .skew = input.skew,
                                  .drift = input.drift,
                                  .tail = input.tail,
                                  .scale_drift = input.scale_drift});
  }
  const traces::Profile profile = traces::read_profile(traces::kProfiles.file(input.profile));
  const traces::ProfileSettings settings{.family = input.family,
                                         .space = point.space,
                                         .k = point.k,
                                         .seed = point.seed,
                                         .start_up = input.start_up,
                                         .reach = input.reach};
  if (input.statistical)
    return std::make_shared<traces::StatisticalProfileSource>(profile, settings);
  return std::make_shared<traces::ExactProfileSource>(profile, settings);
}

template <class Get>
results::Spread spread_of(const std::vector<Traffic>& totals, Get get) {
  results::Spread spread;
  double sum = 0;
  for (const Traffic& total : totals) {
    spread.max = std::max(spread.max, get(total));
    sum += static_cast<double>(get(total));
  }
  spread.mean = sum / static_cast<double>(totals.size());
  return spread;
}

std::vector<results::PhaseCost> phases_of(const RunReport& report) {
  std::vector<results::PhaseCost> phases;
  for (std::size_t i = 0; i < report.phases.size(); ++i) {
    results::PhaseCost cost{.name = report.phases[i], .time = {}, .words_received = {}};
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

std::vector<results::RankPhase> by_rank(const RunReport& report) {
  std::vector<results::RankPhase> all;
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

/// Separates these draws from the draws of gradients.
constexpr std::uint64_t kSlownessDraws = 0x510;

std::vector<bool> slow_ranks_of(const plan::Point& point) {
  std::vector<std::pair<std::uint64_t, int>> order;
  for (int rank = 0; rank < point.ranks; ++rank) {
    order.emplace_back(random_bits(point.seed, kSlownessDraws, rank), rank);
  }
  std::ranges::sort(order);
  std::vector<bool> slow(order.size());
  for (int i = 0; i < point.stragglers.ranks; ++i) {
    slow[static_cast<std::size_t>(order[static_cast<std::size_t>(i)].second)] = true;
  }
  return slow;
}

}  // namespace

PointRanks::PointRanks(const plan::Point& point, const plan::Machine& machine)
    : PointRanks(point, machine, source_of(point), training_of(point)) {
  values_ = info_.approximate || point.error_feedback;
  if (point_.input.trace.empty() && info_.sparsifier == "hard_threshold" &&
      setup_.options.flag("published")) {
    throw InputError(
        "/options/published: 1/(2 sqrt(k)) is in the units of real gradients, and synthetic ones "
        "and profiles have a scale of their own; give a trace, or options.threshold");
  }
  if (info_.name == "powersgd" && point_.error_feedback && point_.space.granule > 1) {
    throw InputError(
        "/granule: powersgd has values only with granule 1, and error_feedback needs them; set "
        "granule to 1, or leave out error_feedback");
  }
}

PointRanks::PointRanks(const plan::Point& point, const plan::Machine& machine,
                       std::shared_ptr<const traces::GradientSource> source,
                       std::optional<TrainingSetup> training)
    : point_(point),
      info_(*point.scheme),
      source_(std::move(source)),
      shared_(4 * static_cast<std::size_t>(point.ranks)),
      training_(std::move(training)),
      values_(true) {
  if (training_ && point.workload.by_layer) {
    info_ = algorithms::layer_by_layer(info_, training_->layers);
  }
  if (const auto few = plan::few_ranks_of(point)) few_roles_.emplace(*few);
  setup_ = make_setup(machine);
  if (point.sums_activations()) tensor_setup_ = make_tensor_setup(machine);
  plan::check_whole_nodes(point, setup_.options, setup_.node);
  if (point.stragglers.ranks > 0) slow_ = slow_ranks_of(point);
}

algorithms::SchemeSetup PointRanks::make_setup(const plan::Machine& machine) {
  const algorithms::Options options(info_.options, point_.options);
  const bool of_model = training_ && point_.tensors.empty();
  if (of_model && options.all().contains("tensor_selection")) {
    for (const std::int64_t size : training_->tensors) {
      if (size % point_.space.granule == 0) continue;
      throw InputError("/granule: {} does not divide the model's tensor of {}",
                       point_.space.granule, size);
    }
  }
  const WorkPrices prices = training_ ? training_->training.prices : WorkPrices{};
  const Gamma gamma =
      training_ ? Gamma(prices) : Gamma(point_.machine.gamma(point_.space.components));
  algorithms::SchemeSetup setup{
      .ranks = point_.data_ranks(),
      .space = point_.space,
      .k = point_.k,
      .gamma = gamma,
      .copy_per_word = point_.machine.copy(point_.space.components),
      .fresh = point_.data_ranks() > 1 ? point_.machine.fresh : algorithms::FreshMemory{},
      .prices = prices,
      .on_device = training_.has_value(),
      .options = options,
      .shared = &shared_,
      .alpha = machine.alpha,
      .beta_per_word = machine.beta_per_word,
      .node = machine.node,
      .switches = machine.switches,
      .seed = point_.seed,
      .tensors = of_model ? training_->tensors : point_.tensors,
      .rows = of_model ? training_->rows : std::vector<std::int64_t>{}};
  if (few_roles_) setup.roles = &*few_roles_;

  if (info_.settle && !point_.input.start_up) {
    setup.settled = info_.settle(
        setup, [&](Rank rank, int iteration) { return source_->sparse(rank, iteration); });
  }
  return setup;
}

/// The setup for the sums of activations, whose lengths are their own.
algorithms::SchemeSetup PointRanks::make_tensor_setup(const plan::Machine& machine) const {
  algorithms::SchemeSetup setup = setup_;
  setup.ranks = point_.parallel.tensor;
  setup.options = algorithms::Options(point_.tensor_scheme->options, {});
  setup.tensors = {};
  setup.rows = {};
  if (const auto& group = machine.in_tensor_group) {
    setup.alpha = group->alpha;
    setup.beta_per_word = group->beta_per_word;
    setup.node = group->node;
  }
  return setup;
}

RankState PointRanks::make_rank() const {
  RankState state{.scheme = info_.make(setup_)};
  if (point_.sums_activations()) {
    state.sums = std::make_unique<workloads::ActivationSums>(*point_.tensor_scheme, tensor_setup_);
  }
  return state;
}

algorithms::LocalGradient PointRanks::gradient(const RankState& state, Rank rank,
                                               int iteration) const {
  if (info_.dense && !values_) {
    return DenseBlock::valueless(0, static_cast<std::uint32_t>(point_.space.coordinates()));
  }
  const Rank of_group(point_.parallel.data_group(rank, point_.ranks).number_of(rank));
  if (info_.dense) return state.feedback.accumulate(source_->dense(of_group, iteration));
  return state.feedback.accumulate(source_->sparse(of_group, iteration));
}

double PointRanks::slowness(Rank rank, int iteration) const {
  const plan::Stragglers& stragglers = point_.stragglers;
  const auto factor = [&](double deviation, int drawn_for) {
    if (deviation == 0) return 1.0;
    return std::exp(deviation *
                    normal_draw(random_bits(point_.seed, kSlownessDraws, rank.value(), drawn_for)));
  };
  double all = factor(stragglers.spread, 0) * factor(stragglers.jitter, iteration);
  if (!slow_.empty() && slow_[static_cast<std::size_t>(rank.value())]) all *= stragglers.factor;
  return all;
}

Task<void> PointRanks::iterate(Communicator& on_network, RankState& rank,
                               algorithms::LocalGradient gradient, int iteration) const {
  std::optional<SlowRank> slow;
  if (point_.stragglers.any()) {
    slow.emplace(on_network, slowness(on_network.rank(), iteration));
  }
  Communicator& all = slow ? *slow : on_network;
  std::optional<Group> group;
  algorithms::SumActivations sum;
  if (point_.parallel.tensor > 1) {
    group.emplace(all, point_.parallel.data_group(all.rank(), all.size()));
    if (rank.sums) {
      sum = [&, members = point_.parallel.tensor_group(all.rank(), all.size())](
                std::int64_t components) { return rank.sums->sum(all, members, components); };
    }
  }
  Communicator& comm = group ? *group : all;
  Task<algorithms::Reduced> task =
      training_ ? train_iteration(comm, *rank.scheme, training_->training, std::move(gradient),
                                  iteration, std::move(sum))
                : rank.scheme->allreduce(comm, std::move(gradient), iteration);
  gradient = {};
  co_await comm.compute(point_.machine.call);
  rank.reduced = co_await std::move(task);
}

Task<void> PointRanks::iterate(Communicator& on_network, RankState& rank, int iteration) const {
  algorithms::LocalGradient accumulated = gradient(rank, on_network.rank(), iteration);
  if (point_.error_feedback) rank.accumulated = accumulated;
  return iterate(on_network, rank, std::move(accumulated), iteration);
}

results::TrainingOutcome training_outcome(std::vector<results::IterationKind> kinds,
                                          std::int64_t samples) {
  results::TrainingOutcome outcome{.mean = {}, .kinds = std::move(kinds)};
  for (const results::IterationKind& kind : outcome.kinds) {
    outcome.mean.computation += kind.parts.computation * kind.which.weight;
    outcome.mean.sparsification += kind.parts.sparsification * kind.which.weight;
    outcome.mean.communication += kind.parts.communication * kind.which.weight;
    outcome.mean.tensor_parallel += kind.parts.tensor_parallel * kind.which.weight;
  }
  const double time = outcome.mean.total().value();
  outcome.samples_per_s = time > 0 ? static_cast<double>(samples) / time : 0;
  return outcome;
}

std::int64_t samples_of(const plan::Point& point) {
  return training_of(point).value().batch * point.data_ranks();
}

bool same_result(const Stream& a, const Stream& b) {
  if (a.index() != b.index()) return false;
  if (const auto* sparse = std::get_if<SparseVector>(&a)) {
    return equal(*sparse, std::get<SparseVector>(b));
  }
  return equal(std::get<DenseBlock>(a), std::get<DenseBlock>(b));
}

bool results_agree(algorithms::Collective collective, const std::vector<RankState>& ranks,
                   const GradientSpace& space) {
  const auto same = [&](const RankState& rank) {
    return same_result(rank.reduced.sum, ranks.front().reduced.sum);
  };
  if (same_on_all_ranks(collective)) return std::ranges::all_of(ranks, same);
  if (collective == algorithms::Collective::ping_pong) return same(ranks.back());
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

std::optional<results::SelectionSummary> selection_of(
    std::span<const algorithms::SelectionReport> ranks, bool dense) {
  if (dense) return std::nullopt;
  results::SelectionSummary summary{.least = INT64_MAX, .sent_least = INT64_MAX};
  const auto most = [](std::int64_t& target, std::int64_t value) {
    target = std::max(target, value);
  };
  for (const algorithms::SelectionReport& report : ranks) {
    if (!report.took_part) continue;
    ++summary.ranks;
    summary.least = std::min(summary.least, report.selected);
    summary.total += report.selected;
    most(summary.most, report.selected);
    summary.sent_least = std::min(summary.sent_least, report.sent);
    most(summary.sent_most, report.sent);
    for (const auto& [name, kind] : algorithms::kWorkKinds) {
      most(summary.work.*kind, report.work.*kind);
    }
  }
  if (summary.ranks == 0) return std::nullopt;  // there was nothing to select from
  return summary;
}

void add_costs(const RunReport& report, bool ranks, results::Outcome& outcome) {
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
  if (ranks) outcome.by_rank = by_rank(report);
}

}  // namespace thinwire::run
