#include "tools/recorder/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/common/complaints.hpp"

namespace thinwire::recorder {

namespace {

void check_place(const experiment::Point& point) {
  const algorithms::SchemeInfo info = algorithms::find_scheme(point.scheme);
  if (info.collective_kind != algorithms::Collective::allreduce) {
    throw InputError(
        fmt::format("/scheme: '{}' is of the collective {}; a training needs an "
                    "allreduce",
                    info.name, name_of(info.collective_kind)));
  }
  if (!experiment::find_network(point.network).has_clock) {
    throw InputError(
        fmt::format("/network: {} has no clock, and a training takes time; take "
                    "alphabeta, links or smpi",
                    point.network));
  }
  if (const auto reason = restriction_of(point)) throw InputError("/scheme: " + *reason);
}

/// Adds what a vector holds to `sums`.
void add_to(std::span<double> sums, const Stream& stream) {
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    for (const Entry& entry : sparse->entries()) sums[entry.coordinate] += entry.value;
    return;
  }
  const auto& block = std::get<DenseBlock>(stream);
  std::size_t at = block.first();
  for (const float value : block.values()) sums[at++] += value;
}

double square_of(double value) { return value * value; }

}  // namespace

/// The gradients of the iteration that is under way.
class Trainer::LiveGradients final : public traces::GradientSource {
 public:
  LiveGradients(GradientSpace space, int ranks, std::size_t size)
      : space_(space), values_(static_cast<std::size_t>(ranks), std::vector<float>(size)) {}

  [[nodiscard]] GradientSpace space() const override { return space_; }
  [[nodiscard]] SparseVector sparse(Rank rank, int /*iteration*/) const override {
    const std::vector<float>& values = of(rank);
    std::vector<Entry> entries;
    entries.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) entries.push_back({static_cast<std::uint32_t>(i), values[i]});
    }
    return SparseVector::trusted(std::move(entries));
  }
  [[nodiscard]] DenseBlock dense(Rank rank, int /*iteration*/) const override {
    return {0, of(rank)};
  }

  [[nodiscard]] std::vector<float>& of(Rank rank) {
    return values_[static_cast<std::size_t>(rank.value())];
  }
  [[nodiscard]] const std::vector<float>& of(Rank rank) const {
    return values_[static_cast<std::size_t>(rank.value())];
  }

 private:
  GradientSpace space_;
  std::vector<std::vector<float>> values_;
};

/// The ranks of a scheme on one network, with their state.
class Trainer::Place {
 public:
  Place(const experiment::Point& point, experiment::ReadyNetwork& ready,
        std::shared_ptr<const traces::GradientSource> source, const TrainingWork& work)
      : network_(*ready.network),
        point_(point),
        work_(work),
        of_point_(point, ready.machine, std::move(source), work.on_device),
        accumulated_(static_cast<std::size_t>(point.ranks)) {
    for (int rank = 0; rank < point.ranks; ++rank) ranks_.push_back(of_point_.make_rank());
  }

  workloads::IterationParts run(int iteration) {
    const RunReport report = network_.run(point_.ranks, [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value());
      accumulated_[at] = of_point_.gradient(ranks_[at], comm.rank(), iteration);
      return of_point_.iterate(comm, ranks_[at], accumulated_[at], iteration);
    });
    of_point_.end_iteration();
    if (!std::isfinite(report.makespan().value())) networks::throw_time_overflow();
    if (!results_agree(of_point_.info().collective_kind, ranks_, point_.space)) {
      throw SimulationError("the ranks ended with different reduced gradients");
    }
    workloads::IterationParts parts = workloads::parts_of(report);
    parts.computation += work_.compute;
    return parts;
  }

  void feed_back() {
    if (!point_.error_feedback) return;
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      ranks_[at].feedback.update(accumulated_[at], ranks_[at].reduced);
    }
  }

  [[nodiscard]] const experiment::Point& point() const { return point_; }
  [[nodiscard]] bool dense() const { return of_point_.info().dense; }
  [[nodiscard]] const std::vector<experiment::RankState>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<Stream>& accumulated() const { return accumulated_; }
  [[nodiscard]] const Stream& sum() const { return ranks_.front().reduced.sum; }
  [[nodiscard]] std::optional<experiment::SelectionSummary> selection() const {
    std::vector<algorithms::SelectionReport> all;
    for (const experiment::RankState& rank : ranks_) all.push_back(rank.reduced.selection);
    return experiment::selection_of(all, dense());
  }

 private:
  Network& network_;
  experiment::Point point_;
  const TrainingWork& work_;
  experiment::PointRanks of_point_;
  std::vector<experiment::RankState> ranks_;
  std::vector<Stream> accumulated_;
};

Trainer::Trainer(Model& model, const TrainerSettings& settings)
    : model_(model), settings_(settings) {
  const experiment::Point& first = settings_.points.at(0);
  const std::size_t size = model.parameters().size();
  if (std::cmp_not_equal(first.space.coordinates(), size)) {
    throw InputError(fmt::format("/components: {}, but the model has {} parameters of {}",
                                 first.space.components, size, first.space.granule));
  }
  gradients_ = std::make_shared<LiveGradients>(first.space, first.ranks, size);
  if (settings_.momentum > 0) {
    velocities_.assign(static_cast<std::size_t>(first.ranks), std::vector<float>(size));
  }
  networks_.reserve(settings_.points.size());
  for (experiment::Point point : settings_.points) {
    check_place(point);
    point.input.start_up = true;  // a training begins here: nothing has settled before
    networks_.push_back(experiment::find_network(point.network).make(point, false));
    const auto add = [&](std::vector<std::unique_ptr<Place>>& places) {
      places.push_back(
          std::make_unique<Place>(point, networks_.back(), gradients_, settings_.work));
    };
    add(places_);
    if (settings_.warm_up == 0) continue;
    point.scheme = kWarmUpScheme;
    point.options = algorithms::Options(algorithms::find_scheme(point.scheme).options, {}).all();
    add(warm_up_);
  }
}

Trainer::~Trainer() = default;

double Trainer::compute_gradients(int iteration, float rate) {
  const int ranks = settings_.points.front().ranks;
  double loss = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<float>& values = gradients_->of(Rank(rank));
    loss += model_.gradient(Rank(rank), iteration, values) / ranks;
    bool finite = true;
    for (float& value : values) {
      value *= rate;
      finite = finite && std::isfinite(value);
    }
    if (!finite) {
      throw SimulationError(fmt::format(
          "the training left the finite numbers in iteration {}; a lower learning rate may help",
          iteration));
    }
    if (velocities_.empty()) continue;
    std::vector<float>& velocity = velocities_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      velocity[i] = settings_.momentum * velocity[i] + values[i];
    }
    values = velocity;
  }
  return loss;
}

TrainerStep Trainer::step(int iteration, bool measured) {
  float rate = settings_.learning_rate;
  if (settings_.decay_every > 0) {
    const int times = (iteration - 1) / settings_.decay_every;
    rate *= std::pow(settings_.decay, static_cast<float>(times));
  }
  TrainerStep step{.loss = compute_gradients(iteration, rate), .learning_rate = rate, .parts = {}};
  warm_ = iteration <= settings_.warm_up;
  const std::vector<std::unique_ptr<Place>>& places = warm_ ? warm_up_ : places_;
  const int of_scheme = warm_ ? iteration : iteration - settings_.warm_up;
  for (const std::unique_ptr<Place>& place : places) {
    step.parts.push_back(place->run(of_scheme));
    if (!experiment::same_result(place->sum(), places.front()->sum())) {
      throw SimulationError(fmt::format(
          "in iteration {} the sum of {} depends on the network; train on each network alone",
          iteration, place->point().scheme));
    }
  }
  const Place& first = *places.front();
  step.selection = first.selection();
  step.result_components = experiment::components_of(first.sum(), first.point().space);
  if (measured) step.xi = xi_of(first);
  for (const std::unique_ptr<Place>& place : places) place->feed_back();
  if (measured) {
    const GradientSpace own{.components = first.point().space.coordinates(), .granule = 1};
    double error = 0;
    for (const experiment::RankState& rank : first.ranks()) {
      error += experiment::norm_of(rank.feedback.residual(), own);
    }
    step.global_error = error / first.point().ranks;
  }
  apply(first.sum());
  forget_momentum();
  return step;
}

void Trainer::apply(const Stream& sum) {
  const std::span<float> parameters = model_.parameters();
  const auto ranks = static_cast<float>(settings_.points.front().ranks);
  if (const auto* sparse = std::get_if<SparseVector>(&sum)) {
    for (const Entry& entry : sparse->entries()) {
      parameters[entry.coordinate] -= entry.value / ranks;
    }
    return;
  }
  const auto& block = std::get<DenseBlock>(sum);
  std::size_t at = block.first();
  for (const float value : block.values()) parameters[at++] -= value / ranks;
}

void Trainer::forget_momentum() {
  if (velocities_.empty() || warm_ || !places_.front()->point().error_feedback) return;
  for (std::size_t rank = 0; rank < velocities_.size(); ++rank) {
    const Stream& contributed = places_.front()->ranks()[rank].reduced.contributed;
    const auto* sparse = std::get_if<SparseVector>(&contributed);
    if (sparse == nullptr) continue;  // a dense scheme sends a part of every value
    for (const Entry& entry : sparse->entries()) velocities_[rank][entry.coordinate] = 0;
  }
}

std::optional<double> Trainer::xi_of(const Place& place) const {
  if (place.dense()) return std::nullopt;
  const experiment::Point& point = place.point();
  const auto size = static_cast<std::size_t>(point.space.coordinates());
  std::vector<double> gradient(size);
  std::vector<double> accumulated(size);
  for (int rank = 0; rank < point.ranks; ++rank) {
    const std::vector<float>& own = gradients_->of(Rank(rank));
    for (std::size_t i = 0; i < size; ++i) gradient[i] += own[i];
    add_to(accumulated, place.accumulated()[static_cast<std::size_t>(rank)]);
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < size; ++i) {
    if (accumulated[i] == 0) continue;
    entries.push_back({static_cast<std::uint32_t>(i), static_cast<float>(accumulated[i])});
  }
  const SparseVector ideal =
      select_largest(SparseVector::trusted(std::move(entries)), point.k / point.space.granule);
  std::vector<double> difference(size);
  add_to(difference, place.sum());
  for (double& value : difference) value = -value;
  add_to(difference, ideal);
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < size; ++i) {
    apart += square_of(difference[i]);
    length += square_of(gradient[i]);
  }
  if (length == 0) return std::nullopt;
  return std::sqrt(apart / length);  // the factor 1/P of both cancels out
}

std::span<const float> Trainer::gradient(Rank rank) const { return gradients_->of(rank); }

const std::vector<experiment::RankState>& Trainer::ranks() const {
  return (warm_ ? warm_up_ : places_).front()->ranks();
}

}  // namespace thinwire::recorder
