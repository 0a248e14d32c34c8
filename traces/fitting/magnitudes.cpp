#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "traces/fitting/numeric.hpp"
#include "traces/fitting/steps.hpp"

namespace thinwire::traces {

namespace {

/// The ratios |accumulator| / threshold of the sampled coordinates, in the later half of the
/// sampled iterations, as far as the trace contains these iterations.
std::vector<double> sampled_accumulators(const TraceReader& trace) {
  const GradientSample& sample = *trace.gradients();
  const ResidualRule rule = trace.header().residual_rule;
  const std::vector<int>& recorded = trace.iterations();
  std::vector<std::vector<float>> residuals = sample.residuals;
  std::vector<double> magnitudes;
  for (std::size_t at = 0; at < sample.iterations.size(); ++at) {
    const auto found = std::ranges::lower_bound(recorded, sample.iterations[at]);
    if (found == recorded.end() || *found != sample.iterations[at]) break;
    const TraceWindow window = trace.window(static_cast<std::size_t>(found - recorded.begin()));
    if (rule == ResidualRule::oktopk && !window.global_threshold) break;
    // The sum sent for each sampled coordinate, which the oktopk rule needs.
    std::vector<double> sums(sample.coordinates.size(), 0.0);
    std::vector<std::vector<std::size_t>> chosen(window.selected.size());
    for (std::size_t rank = 0; rank < window.selected.size(); ++rank) {
      const auto entries = window.selected[rank].entries();
      std::size_t i = 0;
      for (const Entry& entry : entries) {
        while (i < sample.coordinates.size() && sample.coordinates[i] < entry.coordinate) ++i;
        if (i == sample.coordinates.size()) break;
        if (sample.coordinates[i] != entry.coordinate) continue;
        sums[i] += entry.value;
        chosen[rank].push_back(i);
      }
    }
    for (int rank = 0; rank < sample.ranks; ++rank) {
      std::vector<float>& accumulator = residuals[static_cast<std::size_t>(rank)];
      const std::vector<float> gradient = trace.gradient(at, Rank(rank));
      const double threshold = window.thresholds[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < accumulator.size(); ++i) {
        accumulator[i] += gradient[i];
        if (2 * at < sample.iterations.size() || threshold <= 0) continue;
        magnitudes.push_back(std::abs(static_cast<double>(accumulator[i])) / threshold);
      }
      for (const std::size_t i : chosen[static_cast<std::size_t>(rank)]) {
        const bool kept = rule == ResidualRule::all ||
                          std::abs(sums[i]) >= static_cast<double>(*window.global_threshold);
        if (kept) accumulator[i] = 0;
      }
    }
  }
  return magnitudes;
}

/// The exponent of the power law x^(-below) of the number of magnitudes that reach x thresholds.
double fit_below(const std::vector<double>& magnitudes) {
  constexpr std::array kLevels{0.5, 0.6, 0.7, 0.8, 0.9};
  const auto reaching = [&](double level) {
    return static_cast<double>(
        std::ranges::count_if(magnitudes, [&](double x) { return x >= level; }));
  };
  const double of_threshold = reaching(1);
  double products = 0;
  double squares = 0;
  for (const double level : kLevels) {
    products += std::log(reaching(level) / of_threshold) * -std::log(level);
    squares += std::log(level) * std::log(level);
  }
  return products / squares;
}

void assume_bulk(Profile& profile, const std::string& reason) {
  Magnitudes& m = profile.magnitudes;
  m.below = 4;
  const double d = profile.density;
  m.rms = rounded(std::sqrt(d * m.below / (m.below - 2) * (std::pow(d, 2 / m.below - 1) - 1) + d));
  m.mean = rounded(0.75 * m.rms);
  provide(profile, {"magnitudes.below"}, {"assumed", "a round number; " + reason});
  provide(profile, {"magnitudes.rms", "magnitudes.mean"},
          {"assumed", "a power law up to the threshold; " + reason});
}

}  // namespace

double fit_tail(Profile& profile, std::vector<double>& over) {
  Magnitudes& m = profile.magnitudes;
  if (over.size() < 100) {
    provide(profile, {"magnitudes.shape", "magnitudes.scale"},
            {"assumed", "fewer than 100 magnitudes above the threshold"});
    return 0;
  }
  const auto count = static_cast<double>(over.size());
  double mean_log = 0;
  for (const double x : over) mean_log += std::log(x) / count;
  const auto slope = [&](double shape) {
    double sum = 0;
    double weighted = 0;
    for (const double x : over) {
      const double power = std::pow(x, shape);
      sum += power;
      weighted += power * std::log(x);
    }
    return weighted / sum - 1 / shape;
  };
  m.shape = rounded(std::exp(solved([&](double log_shape) { return slope(std::exp(log_shape)); },
                                    mean_log, std::log(0.05), std::log(20.0))));
  double sum = 0;
  for (const double x : over) sum += std::pow(x, m.shape);
  m.scale = rounded(std::pow(sum / count, 1 / m.shape));
  provide(profile, {"magnitudes.shape", "magnitudes.scale"},
          {"fitted", fmt::format("maximum likelihood of {} magnitudes", over.size())});

  std::ranges::sort(over);
  double distance = 0;
  for (std::size_t i = 0; i < over.size(); ++i) {
    const double model = -std::expm1(-std::pow(over[i] / m.scale, m.shape));
    distance = std::max({distance, std::abs(model - static_cast<double>(i) / count),
                         std::abs(model - static_cast<double>(i + 1) / count)});
  }
  return distance;
}

void fit_bulk(Profile& profile, const TraceReader& trace) {
  if (!trace.gradients()) {
    assume_bulk(profile, "the trace holds no gradients");
    return;
  }
  const std::vector<double> magnitudes = sampled_accumulators(trace);
  const auto above = std::ranges::count_if(magnitudes, [](double x) { return x >= 1; });
  if (above < 100) {
    assume_bulk(profile, fmt::format("the trace's gradients give {} accumulators, {} of them above "
                                     "the threshold",
                                     magnitudes.size(), above));
    return;
  }
  Magnitudes& m = profile.magnitudes;
  double sum = 0;
  double squares = 0;
  for (const double x : magnitudes) {
    sum += x;
    squares += x * x;
  }
  const auto count = static_cast<double>(magnitudes.size());
  m.mean = rounded(sum / count);
  m.rms = std::max(rounded(std::sqrt(squares / count)), m.mean);
  m.below = rounded(std::max(0.01, fit_below(magnitudes)));
  const std::string how = fmt::format("{} accumulators of sampled coordinates", magnitudes.size());
  provide(profile, {"magnitudes.rms", "magnitudes.mean"}, {"fitted", how});
  provide(profile, {"magnitudes.below"},
          {"fitted", how + ", how many reach 0.5 to 0.9 thresholds"});
}

}  // namespace thinwire::traces
