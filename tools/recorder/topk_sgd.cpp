#include "tools/recorder/topk_sgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::recorder {

SparseVector select_topk(std::span<const float> values, std::int64_t k) {
  std::vector<float> magnitudes(values.size());
  std::ranges::transform(values, magnitudes.begin(), [](float value) { return std::abs(value); });
  float threshold = 0;
  if (std::cmp_less(k, values.size())) {
    const auto kth = magnitudes.begin() + (k - 1);
    std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>());
    threshold = *kth;
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && std::abs(values[i]) >= threshold) {
      entries.push_back({static_cast<std::uint32_t>(i), values[i]});
    }
  }
  return select_largest(SparseVector::checked(std::move(entries)), k);
}

TopkSgd::TopkSgd(Model& model, const TopkSettings& settings)
    : model_(model),
      settings_(settings),
      gradients_(static_cast<std::size_t>(settings.ranks),
                 std::vector<float>(model.parameters().size())),
      residuals_(gradients_) {}

double TopkSgd::compute_gradients(int iteration) {
  double loss = 0;
  for (int rank = 0; rank < settings_.ranks; ++rank) {
    auto& gradient = gradients_[static_cast<std::size_t>(rank)];
    loss += model_.gradient(Rank(rank), iteration, gradient) / settings_.ranks;
    bool finite = true;
    for (float& value : gradient) {
      value *= settings_.learning_rate;
      finite = finite && std::isfinite(value);
    }
    if (!finite) {
      throw SimulationError(
          "the training left the finite numbers in iteration {}; a lower learning rate may help",
          iteration);
    }
  }
  return loss;
}

double TopkSgd::dense_step(int iteration) {
  const double loss = compute_gradients(iteration);
  const std::span<float> parameters = model_.parameters();
  for (const std::vector<float>& gradient : gradients_) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i] -= gradient[i] / static_cast<float>(settings_.ranks);
    }
  }
  return loss;
}

TopkStep TopkSgd::step(int iteration) {
  TopkStep step;
  step.loss = compute_gradients(iteration);
  for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
    std::vector<float>& accumulator = residuals_[rank];
    std::ranges::transform(accumulator, gradients_[rank], accumulator.begin(), std::plus<>());
    SparseVector selected = select_topk(accumulator, settings_.k);
    step.thresholds.push_back(
        selected.size() == 0 ? 0.0F
                             : kth_magnitude(selected, static_cast<std::int64_t>(selected.size())));
    step.selected.push_back(std::move(selected));
  }

  SparseVector applied = sum(step.selected);
  if (settings_.rule == traces::ResidualRule::oktopk) {
    applied = select_largest(applied, settings_.k);
    step.global_threshold = kth_magnitude(applied, static_cast<std::int64_t>(applied.size()));
  }
  for (std::size_t rank = 0; rank < residuals_.size(); ++rank) {
    const SparseVector sent = intersect(step.selected[rank], applied);
    for (const Entry& entry : sent.entries()) {
      residuals_[rank][entry.coordinate] = 0;
    }
  }
  const std::span<float> parameters = model_.parameters();
  for (const Entry& entry : applied.entries()) {
    parameters[entry.coordinate] -= entry.value / static_cast<float>(settings_.ranks);
  }
  return step;
}

std::span<const float> TopkSgd::gradient(Rank rank) const {
  return gradients_[static_cast<std::size_t>(rank.value())];
}

std::span<const float> TopkSgd::residual(Rank rank) const {
  return residuals_[static_cast<std::size_t>(rank.value())];
}

}  // namespace thinwire::recorder
