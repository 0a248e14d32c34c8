#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "traces/fitting/numeric.hpp"
#include "traces/fitting/steps.hpp"

namespace thinwire::traces {

namespace {

constexpr std::array kFittedLags{1, 2, 4, 8, 16, 32};

double start_up(const ThresholdDrift& drift, int iteration) {
  return std::log(1 - (1 - drift.start) * std::exp(-iteration / drift.filling));
}

std::vector<double> means_of(const LogThresholds& logs) {
  std::vector<double> means;
  for (const std::vector<double>& ranks : logs) {
    means.push_back(std::accumulate(ranks.begin(), ranks.end(), 0.0) /
                    static_cast<double>(ranks.size()));
  }
  return means;
}

/// The standard deviation of the increments over `lag` iterations, if there are any.
std::optional<double> increment(const std::vector<int>& iterations, const LogThresholds& logs,
                                int lag) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const auto later = std::ranges::lower_bound(iterations, iterations[i] + lag);
    if (later == iterations.end() || *later != iterations[i] + lag) continue;
    const auto to = static_cast<std::size_t>(later - iterations.begin());
    for (std::size_t rank = 0; rank < logs[i].size(); ++rank) {
      const double step = logs[to][rank] - logs[i][rank];
      sum += step;
      squares += step * step;
      count += 1;
    }
  }
  if (count < 8) return std::nullopt;
  return std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
}

double increment_of(const ThresholdDrift& drift, int lag) {
  return std::sqrt(2 * drift.noise * drift.noise -
                   2 * drift.walk * drift.walk * std::expm1(-lag / drift.memory));
}

/// Fits noise and walk, both non-negative, for a memory: relative least squares on the variances.
ThresholdDrift noise_and_walk(const std::vector<FittedIncrement>& increments, double memory) {
  std::array<double, 3> a{};  // normal equations: noise², noise·walk, walk²
  std::array<double, 2> b{};
  for (const FittedIncrement& one : increments) {
    const double variance = one.trace * one.trace;
    const double of_noise = 2 / variance;
    const double of_walk = -2 * std::expm1(-one.lag / memory) / variance;
    a[0] += of_noise * of_noise;
    a[1] += of_noise * of_walk;
    a[2] += of_walk * of_walk;
    b[0] += of_noise;
    b[1] += of_walk;
  }
  const double determinant = a[0] * a[2] - a[1] * a[1];
  double noise = determinant > 0 ? (b[0] * a[2] - b[1] * a[1]) / determinant : -1;
  double walk = determinant > 0 ? (b[1] * a[0] - b[0] * a[1]) / determinant : -1;
  if (noise < 0) {
    noise = 0;
    walk = b[1] / a[2];
  } else if (walk < 0) {
    walk = 0;
    noise = b[0] / a[0];
  }
  return {.noise = std::sqrt(noise), .walk = std::sqrt(walk), .memory = memory};
}

}  // namespace

void fit_start(Profile& profile, const std::vector<int>& iterations, LogThresholds& logs) {
  ThresholdDrift& drift = profile.thresholds;
  constexpr std::size_t kFewest = 10;
  const double settled = 1 / profile.density;
  if (iterations.front() > settled / 2 || iterations.size() < kFewest) {
    drift.start = 0.4;
    drift.filling = rounded(settled / 3);
    provide(profile, {"thresholds.start", "thresholds.filling"},
            {"assumed", fmt::format("{} iterations from {} on do not show the start of a training",
                                    iterations.size(), iterations.front())});
    return;
  }
  const std::vector<double> means = means_of(logs);
  const auto misfit = [&](double start, double filling) {
    const ThresholdDrift tried{.start = start, .filling = filling};
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      const double rest = means[i] - start_up(tried, iterations[i]);
      sum += rest;
      squares += rest * rest;
    }
    return squares - sum * sum / static_cast<double>(means.size());
  };
  constexpr double kStep = 0.02;
  constexpr double kFactor = 1.1;
  double best = std::numeric_limits<double>::infinity();
  ThresholdDrift found = drift;
  for (double filling = 2; filling < 3 * settled; filling *= kFactor) {
    for (double start = kStep; start < 1 + kStep / 2; start += kStep) {
      const double tried = misfit(start, filling);
      if (tried >= best) continue;
      best = tried;
      found = {.start = start, .filling = filling};
    }
  }
  // Refines the best point of the grid.
  const auto start_for = [&](double filling) {
    return least([&](double start) { return misfit(start, filling); },
                 std::max(1e-3, found.start - 2 * kStep), std::min(1.0, found.start + 2 * kStep));
  };
  found.filling =
      std::exp(least([&](double log) { return misfit(start_for(std::exp(log)), std::exp(log)); },
                     std::log(found.filling / kFactor), std::log(found.filling * kFactor)));
  found.start = start_for(found.filling);
  drift.start = rounded(found.start);
  drift.filling = rounded(found.filling);
  provide(profile, {"thresholds.start", "thresholds.filling"},
          {"fitted",
           fmt::format("least squares on ln threshold, from iteration {} on", iterations.front())});
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (double& log : logs[i]) log -= start_up(drift, iterations[i]);
  }
}

std::vector<FittedIncrement> fit_drift(Profile& profile, const std::vector<int>& iterations,
                                       const LogThresholds& logs) {
  ThresholdDrift& drift = profile.thresholds;
  std::vector<FittedIncrement> increments;
  for (const int lag : kFittedLags) {
    const auto deviation = increment(iterations, logs, lag);
    if (deviation && *deviation > 0) increments.push_back({lag, *deviation, 0});
  }
  const std::vector<std::string> entries{"thresholds.noise", "thresholds.walk",
                                         "thresholds.memory"};
  if (increments.size() < 3) {
    drift.memory = 32;
    drift.noise = increments.empty() ? 0 : rounded(increments.front().trace / std::sqrt(2.0));
    provide(
        profile, entries,
        {"assumed", "the trace has too few iterations that are 1, 2, 4 .. apart: all is noise"});
  } else {
    double best = std::numeric_limits<double>::infinity();
    // For a longer memory only walk² / memory can be determined.
    const double longest = 4.0 * increments.back().lag;
    for (double memory = 1; memory < longest; memory *= 1.03) {
      const ThresholdDrift tried = noise_and_walk(increments, memory);
      double misfit = 0;
      for (const FittedIncrement& one : increments) {
        const double error = increment_of(tried, one.lag) / one.trace - 1;
        misfit += error * error;
      }
      if (misfit >= best) continue;
      best = misfit;
      drift.noise = rounded(tried.noise);
      drift.walk = rounded(tried.walk);
      drift.memory = rounded(memory);
    }
    provide(profile, entries,
            {"fitted", fmt::format("least squares on the increments of ln threshold at lags {} to "
                                   "{}",
                                   increments.front().lag, increments.back().lag)});
  }
  for (FittedIncrement& one : increments) one.profile = increment_of(drift, one.lag);

  // The deviation over ranks comes from each rank's mean difference from the others.
  const std::vector<double> means = means_of(logs);
  double squares = 0;
  const std::size_t ranks = logs.front().size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double sum = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) sum += logs[i][rank] - means[i];
    squares += std::pow(sum / static_cast<double>(logs.size()), 2);
  }
  drift.ranks = rounded(std::sqrt(squares / static_cast<double>(ranks - 1)));
  provide(profile, {"thresholds.ranks"},
          {"fitted", "standard deviation over ranks of their mean ln threshold"});
  return increments;
}

}  // namespace thinwire::traces
