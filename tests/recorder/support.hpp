// A model that needs no data, and what every recorded trace must fulfil.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/core/base/random.hpp"
#include "tools/recorder/models.hpp"
#include "tools/recorder/topk_sgd.hpp"
#include "traces/trace.hpp"

namespace thinwire::test {

/// Each worker pulls every parameter to 1, with noise of its own. The loss is the mean square.
class Bowl final : public recorder::Model {
 public:
  explicit Bowl(std::int64_t size)
      : parameters_(static_cast<std::size_t>(size)),
        layers_{{"first", 0, size - 5}, {"second", size - 5, 5}} {}

  [[nodiscard]] std::string description() const override { return "bowl"; }
  [[nodiscard]] const std::vector<traces::Layer>& layers() const override { return layers_; }
  [[nodiscard]] std::span<float> parameters() override { return parameters_; }

  double gradient(Rank rank, int iteration, std::span<float> gradient) override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const double noise = to_unit(random_bits(1, rank.value(), iteration, i)) - 0.5;
      gradient[i] = parameters_[i] - 1 + static_cast<float>(noise);
    }
    return evaluate().loss;
  }

  double joined_gradient(int ranks, int iteration, std::span<float> joined) override {
    std::vector<double> sum(joined.size());
    for (int rank = 0; rank < ranks; ++rank) {
      gradient(Rank(rank), iteration, joined);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += joined[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) joined[i] = static_cast<float>(sum[i] / ranks);
    return evaluate().loss;
  }

  [[nodiscard]] recorder::Evaluation evaluate() override {
    recorder::Evaluation evaluation;
    for (const float p : parameters_) {
      evaluation.loss += (p - 1) * (p - 1) / static_cast<double>(parameters_.size());
    }
    return evaluation;
  }

 private:
  std::vector<float> parameters_;
  std::vector<traces::Layer> layers_;
};

/// Of this process alone.
inline std::string scratch_file(const std::string& name) {
  const std::string own = "thinwire_" + std::to_string(getpid()) + "_" + name;
  return (std::filesystem::temp_directory_path() / own).string();
}

/// The gradient sample, which must begin where the windows do, leads to the recorded selections.
inline void check_replay(const traces::TraceReader& reader) {
  const traces::TraceHeader& header = reader.header();
  REQUIRE(reader.gradients().has_value());
  const traces::GradientSample& sample = *reader.gradients();
  REQUIRE(sample.iterations == reader.iterations());
  std::vector<std::vector<float>> accumulators = sample.residuals;
  std::vector<float> tolerances(accumulators.size());

  for (std::size_t at = 0; at < sample.iterations.size(); ++at) {
    CAPTURE(sample.iterations[at]);
    const traces::TraceWindow window = reader.window(at);
    SparseVector applied = sum(window.selected);
    if (header.residual_rule == traces::ResidualRule::oktopk) {
      applied = select_largest(applied, header.k());
      REQUIRE(window.global_threshold.has_value());
      CHECK(window.global_threshold == kth_magnitude(applied, header.k()));
    }
    for (int rank = 0; rank < sample.ranks; ++rank) {
      CAPTURE(rank);
      const auto r = static_cast<std::size_t>(rank);
      const SparseVector& selected = window.selected[r];
      CHECK(selected.size() == static_cast<std::size_t>(header.k()));
      CHECK(window.thresholds[r] == kth_magnitude(selected, header.k()));
      const SparseVector forgotten = intersect(selected, applied);

      const std::vector<float> gradient = reader.gradient(at, Rank(rank));
      const float largest = std::abs(
          *std::ranges::max_element(gradient, {}, [](float value) { return std::abs(value); }));
      // Gradients are kept in 16 bits, 11 of them for the digits, and rounding adds up.
      tolerances[r] += largest * 0x1p-11F;
      const float tolerance = tolerances[r];
      int wrong = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        float& accumulator = accumulators[r][i];
        accumulator += gradient[i];
        const std::uint32_t coordinate = sample.coordinates[i];
        const auto holds = [&](const SparseVector& vector) {
          const std::size_t position = vector.position_of(coordinate);
          return position < vector.size() && vector.entries()[position].coordinate == coordinate;
        };
        if (holds(selected)) {
          const float value = selected.entries()[selected.position_of(coordinate)].value;
          if (std::abs(value - accumulator) > tolerance) ++wrong;
          accumulator = value;
        } else if (std::abs(accumulator) > window.thresholds[r] + tolerance) {
          ++wrong;
        }
        if (holds(forgotten)) accumulator = 0;
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace thinwire::test
