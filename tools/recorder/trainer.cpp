#include "tools/recorder/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/common/complaints.hpp"

namespace thinwire::recorder {

namespace {

void check_place(const plan::Point& point) {
  const algorithms::SchemeInfo& info = *point.scheme;
  if (info.collective_kind != algorithms::Collective::allreduce) {
    throw InputError("/scheme: '{}' is of the collective {}; a training needs an allreduce",
                     info.name, name_of(info.collective_kind));
  }
  if (!point.network->has_clock) {
    throw InputError(
        "/network: {} has no clock, and a training takes time; take alphabeta, links or smpi",
        point.network->name);
  }
  if (const auto reason = restriction_of(point)) throw InputError("/scheme: " + *reason);
}

std::size_t index_of(Rank rank) { return static_cast<std::size_t>(rank.value()); }

double square_of(double value) { return value * value; }

/// What of an accumulator is left for the next iteration: of a sparse scheme what did not
/// contribute and what came back, of a dense one what its approximate values lack, as in
/// algorithms::ErrorFeedback.
void keep_residual(std::vector<float>& accumulator, const algorithms::Reduced& reduced,
                   bool dense) {
  if (const auto* block = std::get_if<DenseBlock>(&reduced.contributed)) {
    auto value = accumulator.begin();
    for (const float sent : block->values()) *value++ -= sent;
  } else if (dense) {
    std::ranges::fill(accumulator, 0.0F);
  } else {
    for (const Entry& entry : std::get<SparseVector>(reduced.contributed).entries()) {
      float& left = accumulator[entry.coordinate];
      left = reduced.sent_approximately ? left - entry.value : 0;
    }
    for (const Entry& entry : reduced.returned.entries()) {
      accumulator[entry.coordinate] += entry.value;
    }
  }
}

/// Calls `visit` with the coordinates and values of a vector.
template <class Visit>
void for_each(const Stream& stream, Visit visit) {
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    for (const Entry& entry : sparse->entries()) visit(entry.coordinate, entry.value);
    return;
  }
  const auto& block = std::get<DenseBlock>(stream);
  std::uint32_t at = block.first();
  for (const float value : block.values()) visit(at++, value);
}

}  // namespace

/// The ranks of a scheme on one network, with their state.
class Trainer::Place {
 public:
  Place(const plan::Point& point, run::ReadyNetwork& ready, const TrainingWork& work)
      : network_(*ready.network),
        point_(point),
        work_(work),
        // Nobody asks it for gradients: run() is given the accumulators.
        of_point_(point, ready.machine, nullptr, work.on_device) {
    for (int rank = 0; rank < point.ranks; ++rank) ranks_.push_back(of_point_.make_rank());
  }

  workloads::IterationParts run(const std::vector<Stream>& accumulated, int iteration) {
    const RunReport report = network_.run(point_.ranks, [&](Communicator& comm) {
      const std::size_t at = index_of(comm.rank());
      return of_point_.iterate(comm, ranks_[at], accumulated[at], iteration);
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

  /// Whether the allreduce had the same result there: the sum, and what contributed.
  [[nodiscard]] bool agrees_with(const Place& other) const {
    if (!run::same_result(sum(), other.sum())) return false;
    if (!point_.error_feedback) return true;
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      if (!run::same_result(ranks_[at].reduced.contributed, other.ranks_[at].reduced.contributed)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] const plan::Point& point() const { return point_; }
  [[nodiscard]] bool dense() const { return of_point_.info().dense; }
  [[nodiscard]] const std::vector<run::RankState>& ranks() const { return ranks_; }
  [[nodiscard]] const Stream& sum() const { return ranks_.front().reduced.sum; }
  [[nodiscard]] std::optional<results::SelectionSummary> selection() const {
    std::vector<algorithms::SelectionReport> all;
    for (const run::RankState& rank : ranks_) all.push_back(rank.reduced.selection);
    return run::selection_of(all, dense());
  }

 private:
  Network& network_;
  plan::Point point_;
  const TrainingWork& work_;
  run::PointRanks of_point_;
  std::vector<run::RankState> ranks_;
};

Trainer::Trainer(Model& model, TrainerSettings settings)
    : model_(model), settings_(std::move(settings)) {
  const plan::Point& first = settings_.points.at(0);
  const std::size_t size = model.parameters().size();
  if (std::cmp_not_equal(first.space.coordinates(), size)) {
    throw InputError("/components: {}, but the model has {} parameters of {}",
                     first.space.components, size, first.space.granule);
  }
  const auto ranks = static_cast<std::size_t>(first.ranks);
  gradients_.assign(ranks, std::vector<float>(size));
  residuals_.assign(ranks, std::vector<float>(size));
  if (settings_.momentum > 0) velocities_.assign(ranks, std::vector<float>(size));
  networks_.reserve(settings_.points.size());
  for (plan::Point point : settings_.points) {
    check_place(point);
    point.input.start_up = true;  // a training begins here: nothing has settled before
    networks_.push_back(point.network->make(point, false));
    const auto add = [&](std::vector<std::unique_ptr<Place>>& places) {
      places.push_back(std::make_unique<Place>(point, networks_.back(), settings_.work));
    };
    add(places_);
    if (settings_.warm_up == 0) continue;
    point.scheme = kWarmUpScheme;
    point.options = algorithms::Options(point.scheme->options, {}).all();
    add(warm_up_);
  }
}

Trainer::~Trainer() = default;

double Trainer::compute_gradients(int iteration, float rate) {
  const int ranks = settings_.points.front().ranks;
  double loss = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<float>& values = gradients_[static_cast<std::size_t>(rank)];
    loss += model_.gradient(Rank(rank), iteration, values) / ranks;
    unsigned infinite = 0;
    for (float& value : values) {
      value *= rate;
      infinite |= std::isfinite(value) ? 0U : 1U;
    }
    if (infinite != 0) {
      throw SimulationError(
          "the training left the finite numbers in iteration {}; a lower learning rate may help",
          iteration);
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
  const Place& first = *places.front();
  const std::vector<Stream> accumulated = accumulate(first.dense());
  const int of_scheme = warm_ ? iteration : iteration - settings_.warm_up;
  for (const std::unique_ptr<Place>& place : places) {
    step.parts.push_back(place->run(accumulated, of_scheme));
    if (!place->agrees_with(first)) {
      throw SimulationError(
          "in iteration {} the sum of {} depends on the network; train on each network alone",
          iteration, place->point().scheme->name);
    }
  }
  step.selection = first.selection();
  step.result_components = run::components_of(first.sum(), first.point().space);
  if (measured) step.xi = xi_of(first);
  for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
    if (first.point().error_feedback) {
      keep_residual(residuals_[rank], first.ranks()[rank].reduced, first.dense());
    } else {
      std::ranges::fill(residuals_[rank], 0.0F);
    }
  }
  if (measured) step.global_error = global_error();
  apply(first.sum());
  forget_momentum();
  return step;
}

/// Adds the gradients to the residuals, which are the accumulators until keep_residual().
std::vector<Stream> Trainer::accumulate(bool dense) {
  std::vector<Stream> streams;
  for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
    std::vector<float>& all = residuals_[rank];
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += gradients_[rank][i];
    if (dense) {
      streams.emplace_back(DenseBlock(0, all));
      continue;
    }
    std::vector<Entry> entries(all.size());
    std::size_t size = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      entries[size] = {static_cast<std::uint32_t>(i), all[i]};
      size += all[i] != 0 ? 1U : 0U;
    }
    entries.resize(size);
    streams.emplace_back(SparseVector::trusted(std::move(entries)));
  }
  return streams;
}

double Trainer::global_error() const {
  double sum = 0;
  for (const std::vector<float>& residual : residuals_) {
    double squares = 0;
    for (const float value : residual) squares += square_of(value);
    sum += std::sqrt(squares);
  }
  return sum / static_cast<double>(residuals_.size());
}

void Trainer::apply(const Stream& sum) {
  const std::span<float> parameters = model_.parameters();
  const auto ranks = static_cast<float>(settings_.points.front().ranks);
  for_each(sum, [&](std::uint32_t at, float value) { parameters[at] -= value / ranks; });
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
  const plan::Point& point = place.point();
  const auto size = static_cast<std::size_t>(point.space.coordinates());
  std::vector<double> gradient(size);
  std::vector<double> accumulated(size);
  for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
    for (std::size_t i = 0; i < size; ++i) {
      gradient[i] += gradients_[rank][i];
      accumulated[i] += residuals_[rank][i];
    }
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < size; ++i) {
    if (accumulated[i] == 0) continue;
    entries.push_back({static_cast<std::uint32_t>(i), static_cast<float>(accumulated[i])});
  }
  const SparseVector ideal =
      select_largest(SparseVector::trusted(std::move(entries)), point.k / point.space.granule);
  std::vector<double> difference(size);
  for (const Entry& entry : ideal.entries()) difference[entry.coordinate] = entry.value;
  for_each(place.sum(), [&](std::uint32_t at, float value) { difference[at] -= value; });
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < size; ++i) {
    apart += square_of(difference[i]);
    length += square_of(gradient[i]);
  }
  if (length == 0) return std::nullopt;
  return std::sqrt(apart / length);  // the factor 1/P of both cancels out
}

std::span<const float> Trainer::gradient(Rank rank) const { return gradients_[index_of(rank)]; }

const std::vector<run::RankState>& Trainer::ranks() const {
  return (warm_ ? warm_up_ : places_).front()->ranks();
}

}  // namespace thinwire::recorder
