#include "traces/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/space.hpp"

namespace thinwire::traces {

namespace {

constexpr int kParts = 64;  ///< in which imbalance is told
constexpr std::array kLags{1, 2, 4, 8, 16, 32};
/// With fewer ranks, a share that is never selected cannot be told from a larger ρ.
constexpr int kRanksForNever = 64;
constexpr std::size_t kMostMagnitudes = 1U << 20U;

/// Where a function of one variable that has one minimum is least.
double least(const std::function<double(double)>& function, double low, double high) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  for (int i = 0; i < 45; ++i) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = function(right);
    }
  }
  return (low + high) / 2;
}

double solved(const std::function<double(double)>& increasing, double wanted, double low,
              double high) {
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (increasing(middle) < wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// A number in as many digits as a fit has.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

std::vector<ProfileRegion> regions_of(const TraceHeader& header, int parts) {
  std::vector<ProfileRegion> regions;
  int part = 1;
  for (std::size_t i = 0; i < header.layers.size(); ++i) {
    const Layer& layer = header.layers[i];
    std::int64_t begin = layer.first;
    const std::int64_t end = layer.first + layer.size;
    while (begin < end) {
      while (part < parts && part_begin(header.components, parts, part) <= begin) ++part;
      const std::int64_t next =
          part < parts ? std::min(end, part_begin(header.components, parts, part)) : end;
      regions.push_back({i, next - begin, 0});
      begin = next;
    }
  }
  return regions;
}

/// What a pass over a trace's selections leaves.
class Selections {
 public:
  Selections(const TraceHeader& header, std::vector<ProfileRegion> regions, std::int64_t block)
      : components_(header.components),
        ranks_(static_cast<std::size_t>(header.ranks)),
        block_(block),
        regions_(std::move(regions)),
        selected_(regions_.size(), 0.0),
        by_ranks_(ranks_ + 1, 0.0) {
    std::int64_t begin = 0;
    for (const ProfileRegion& region : regions_) {
      begin += region.size;
      ends_.push_back(begin);
    }
  }

  void add(const TraceWindow& window) {
    ++windows_;
    keys_.clear();
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      add_imbalance(window.selected[rank]);
      for (const Entry& entry : window.selected[rank].entries()) {
        keys_.push_back((std::uint64_t{entry.coordinate} << kRankBits) | rank);
        add_magnitude(entry.value, window.thresholds[rank]);
      }
    }
    std::ranges::sort(keys_);
    add_keys();
  }

  [[nodiscard]] double entries() const {
    return std::accumulate(selected_.begin(), selected_.end(), 0.0);
  }
  /// Mean density of one rank.
  [[nodiscard]] double density() const {
    return entries() / (static_cast<double>(components_) * draws());
  }
  [[nodiscard]] double region_density(std::size_t region) const {
    return selected_[region] / (static_cast<double>(regions_[region].size) * draws());
  }
  /// Of `ranks` ranks, mean of all subsets of so many.
  [[nodiscard]] double union_density(int ranks) const {
    const auto all = static_cast<double>(ranks_);
    double sum = 0;
    for (std::size_t c = 1; c <= ranks_; ++c) {
      // None of a subset's ranks is among the c that selected it.
      double none = 1;
      for (int i = 0; i < ranks && none > 0; ++i) {
        none *= std::max(0.0, all - static_cast<double>(c) - i) / (all - i);
      }
      sum += by_ranks_[c] * (1 - none);
    }
    return sum / (static_cast<double>(components_) * windows_);
  }
  /// Pairs of different ranks and different coordinates of a block that both are selected, by
  /// pairs that there are.
  [[nodiscard]] double block_pairs() const {
    const auto all = static_cast<double>(ranks_);
    return pairs_ / (all * (all - 1) * windows_);
  }
  /// Pairs of coordinates that share a block, for each region.
  [[nodiscard]] std::vector<double> coordinate_pairs() const {
    std::vector<double> pairs;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends_) {
      double sum = 0;
      while (begin < end) {
        const std::int64_t next = std::min(end, (begin / block_ + 1) * block_);
        const auto size = static_cast<double>(next - begin);
        sum += size * (size - 1);
        begin = next;
      }
      pairs.push_back(sum);
    }
    return pairs;
  }
  [[nodiscard]] double imbalance() const { return imbalance_ / draws(); }
  /// ln(magnitude / threshold), positive ones.
  [[nodiscard]] std::vector<double>& magnitudes() { return magnitudes_; }

 private:
  static constexpr unsigned kRankBits = 24;

  [[nodiscard]] double draws() const { return windows_ * static_cast<double>(ranks_); }

  void add_imbalance(const SparseVector& selected) {
    std::array<double, kParts> counts{};
    for (const Entry& entry : selected.entries()) {
      counts.at(static_cast<std::size_t>(std::int64_t{entry.coordinate} * kParts / components_)) +=
          1;
    }
    const auto sum = static_cast<double>(selected.size());
    imbalance_ += sum > 0 ? *std::ranges::max_element(counts) * kParts / sum : 1;
  }

  void add_magnitude(float value, float threshold) {
    if (seen_++ % stride_ != 0) return;
    const double over = std::log(std::abs(static_cast<double>(value)) / threshold);
    // The one that is the threshold says nothing of the others.
    if (!std::isfinite(over) || over <= 0) return;
    magnitudes_.push_back(over);
    if (magnitudes_.size() < kMostMagnitudes) return;
    for (std::size_t i = 0; i < kMostMagnitudes / 2; ++i) magnitudes_[i] = magnitudes_[2 * i];
    magnitudes_.resize(kMostMagnitudes / 2);
    stride_ *= 2;
  }

  void add_keys() {
    std::vector<double> of_rank(ranks_, 0.0);  // in the current block
    double in_block = 0;
    double alike = 0;  // pairs of ranks with one coordinate
    std::size_t region = 0;
    std::int64_t end = 0;
    const auto close_block = [&] {
      double squares = 0;
      for (double& count : of_rank) {
        squares += count * count;
        count = 0;
      }
      pairs_ += in_block * in_block - squares - alike;
      in_block = alike = 0;
    };
    for (std::size_t at = 0; at < keys_.size();) {
      const auto coordinate = static_cast<std::int64_t>(keys_[at] >> kRankBits);
      if (coordinate >= end) {
        close_block();
        while (coordinate >= ends_[region]) ++region;
        end = std::min(ends_[region], (coordinate / block_ + 1) * block_);
      }
      double count = 0;
      for (; at < keys_.size() && static_cast<std::int64_t>(keys_[at] >> kRankBits) == coordinate;
           ++at) {
        of_rank[keys_[at] & ((1U << kRankBits) - 1)] += 1;
        count += 1;
      }
      selected_[region] += count;
      in_block += count;
      alike += count * (count - 1);
      by_ranks_[static_cast<std::size_t>(count)] += 1;
    }
    close_block();
  }

  std::int64_t components_;
  std::size_t ranks_;
  std::int64_t block_;
  std::vector<ProfileRegion> regions_;
  std::vector<std::int64_t> ends_;
  double windows_ = 0;
  std::vector<double> selected_;  ///< by region
  std::vector<double> by_ranks_;  ///< coordinates that so many ranks selected
  double pairs_ = 0;
  double imbalance_ = 0;
  std::vector<double> magnitudes_;
  std::size_t stride_ = 1;
  std::size_t seen_ = 0;
  std::vector<std::uint64_t> keys_;
};

void provide(Profile& profile, const std::vector<std::string>& entries, const Provenance& from) {
  for (const std::string& entry : entries) profile.provenance[entry] = from;
}

std::vector<int> union_ranks(int ranks) {
  std::vector<int> counts;
  for (int i = 1; i < ranks; i *= 2) counts.push_back(i);
  counts.push_back(ranks);
  return counts;
}

/// Sum of squares of the unions' relative errors, of two ranks and more.
double union_misfit(const Profile& profile, PopularityFamily family,
                    const std::vector<FittedUnion>& unions) {
  double sum = 0;
  for (const FittedUnion& one : unions) {
    if (one.ranks < 2) continue;
    const double error = union_density(profile, family, profile.density, one.ranks) / one.trace - 1;
    sum += error * error;
  }
  return sum;
}

/// ρ and a for the share that is never selected as it stands; the sum of both misfits.
double fit_families(Profile& profile, const std::vector<FittedUnion>& unions) {
  Popularity& popularity = profile.popularity;
  popularity.rho = rounded(least(
      [&](double rho) {
        popularity.rho = rho;
        return union_misfit(profile, PopularityFamily::copula, unions);
      },
      0, 0.98));
  popularity.beta_a = rounded(std::exp(least(
      [&](double log_a) {
        popularity.beta_a = std::exp(log_a);
        return union_misfit(profile, PopularityFamily::beta, unions);
      },
      std::log(1e-3), std::log(1e4))));
  return union_misfit(profile, PopularityFamily::copula, unions) +
         union_misfit(profile, PopularityFamily::beta, unions);
}

void fit_popularity(Profile& profile, const std::vector<FittedUnion>& unions) {
  const int ranks = unions.back().ranks;
  double misfit = fit_families(profile, unions);
  const std::string how = fmt::format("least squares on the union of 2 to {} ranks", ranks);
  provide(profile, {"popularity.rho", "popularity.beta_a"}, {"fitted", how});
  provide(profile, {"popularity.never"},
          {"assumed", fmt::format("0: {} ranks do not identify it", ranks)});
  if (ranks < kRanksForNever) return;
  const Popularity without = profile.popularity;
  const double wanted = misfit / 4;
  Popularity best = without;
  double most = 0;  // what a region leaves to be selected
  for (const ProfileRegion& region : profile.regions) most = std::max(most, region.density);
  for (const double never : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5}) {
    if (profile.density * most > 1 - never) break;
    profile.popularity.never = never;
    const double with = fit_families(profile, unions);
    if (with >= misfit) continue;
    misfit = with;
    best = profile.popularity;
  }
  profile.popularity = misfit < wanted ? best : without;
  provide(profile, {"popularity.never"},
          misfit < wanted ? Provenance{"fitted", how}
                          : Provenance{"assumed", "0: another share fits no better"});
}

void fit_clustering(Profile& profile, const Selections& selections) {
  const std::vector<double> pairs = selections.coordinate_pairs();
  Popularity& popularity = profile.popularity;
  const double rho = popularity.rho;
  Profile uniform;  // one region: a pair of independent ranks selects what their union lacks
  uniform.components = 1;
  uniform.regions = {{0, 1, 1.0}};
  uniform.popularity.never = 0;
  const auto expected = [&](double clustering) {
    uniform.popularity.rho = rho * clustering;
    double sum = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double d = selections.region_density(i);
      if (d <= 0 || pairs[i] <= 0) continue;
      sum += pairs[i] * (2 * d - union_density(uniform, PopularityFamily::copula, d, 2));
    }
    return sum;
  };
  popularity.clustering = rounded(solved(expected, selections.block_pairs(), 0, 1));
  if (popularity.clustering < 1e-6) popularity.clustering = 0;
  provide(profile, {"popularity.clustering"},
          {"fitted", fmt::format("pairs of ranks that select in one block of {}, by the copula",
                                 popularity.block)});
  provide(profile, {"popularity.block"}, {"assumed", "what counts were taken in"});
}

/// Maximum likelihood of a stretched exponential (Weibull) distribution.
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

/// |accumulator| / threshold of the sampled coordinates, in the later half of the sampled
/// iterations, as far as the trace holds these iterations.
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
    // What was sent for each sampled coordinate, where it matters who forgets.
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

/// How many magnitudes reach x thresholds falls as x^(-below).
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

/// ln threshold of each recorded iteration and rank.
using LogThresholds = std::vector<std::vector<double>>;

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

/// Takes the start-up off `logs`.
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
  // Between the points of the grid.
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

/// Standard deviation of increments over `lag` iterations, where there are any.
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

/// Noise and walk for a memory: least squares on the variances, relative, neither negative.
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

std::vector<FittedIncrement> fit_drift(Profile& profile, const std::vector<int>& iterations,
                                       const LogThresholds& logs) {
  ThresholdDrift& drift = profile.thresholds;
  std::vector<FittedIncrement> increments;
  for (const int lag : kLags) {
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
    // Of a longer memory only walk² / memory can be told.
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

  // Over ranks, of what each has on average beside the others.
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

double normal_of(int draw, std::size_t at, int which) {
  return normal_draw(random_bits(1, draw, at, 2 * which), random_bits(1, draw, at, 2 * which + 1));
}

/// What a region holds of one of 64 equal parts.
struct Piece {
  std::size_t part = 0;
  std::size_t region = 0;
  double mean = 0;
  double of_blocks = 0;  ///< variance by the popularity of blocks
};

std::vector<Piece> pieces_of(const Profile& profile) {
  const auto n = static_cast<double>(profile.components);
  Profile uniform;
  uniform.components = 1;
  uniform.regions = {{0, 1, 1.0}};
  uniform.popularity.rho = profile.popularity.rho * profile.popularity.clustering;
  std::vector<Piece> pieces;
  double begin = 0;
  for (std::size_t i = 0; i < profile.regions.size(); ++i) {
    const double end = begin + static_cast<double>(profile.regions[i].size);
    const double d = profile.regions[i].density * profile.density;
    const double both = d > 0 ? 2 * d - union_density(uniform, PopularityFamily::copula, d, 2) : 0;
    const double of_block =
        std::max(0.0, both - d * d) * static_cast<double>(profile.popularity.block);
    for (auto part = static_cast<std::size_t>(begin / n * kParts); part < kParts; ++part) {
      const double low = std::max(begin, n * static_cast<double>(part) / kParts);
      const double high = std::min(end, n * static_cast<double>(part + 1) / kParts);
      if (low >= end) break;
      if (high > low) pieces.push_back({part, i, (high - low) * d, (high - low) * of_block});
    }
    begin = end;
  }
  return pieces;
}

/// What the profile leads one to expect of the most of 64 equal parts over the mean: counts vary
/// about what regions hold by chance, with the popularity of blocks and in bursts.
double expected_imbalance(const std::vector<Piece>& pieces, double bursts) {
  constexpr int kDraws = 400;
  double total = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::array<double, kParts> counts{};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      const double factor =
          std::exp(bursts * normal_of(draw, piece.region, 0) - bursts * bursts / 2);
      const double mean = piece.mean * factor;
      counts.at(piece.part) +=
          mean + std::sqrt(mean + piece.of_blocks * factor * factor) * normal_of(draw, i, 1);
    }
    double sum = 0;
    for (const double count : counts) sum += std::max(0.0, count);
    total += sum > 0 ? *std::ranges::max_element(counts) * kParts / sum : 1;
  }
  return total / kDraws;
}

/// As large as the imbalance of a rank's selection asks for.
void fit_bursts(Profile& profile, double imbalance) {
  const std::vector<Piece> pieces = pieces_of(profile);
  const auto expected = [&](double bursts) { return expected_imbalance(pieces, bursts); };
  constexpr double kMost = 2;
  const double bursts =
      expected(0) < imbalance ? rounded(solved(expected, imbalance, 0, kMost)) : 0;
  profile.popularity.bursts = bursts;
  provide(profile, {"popularity.bursts"},
          {"fitted", "the imbalance of a rank's selection in one iteration over 64 parts"});
}

}  // namespace

double ProfileFit::union_error() const {
  double most = 0;
  for (const FittedUnion& one : unions) {
    most =
        std::max({most, std::abs(one.copula / one.trace - 1), std::abs(one.beta / one.trace - 1)});
  }
  return most;
}

ProfileFit fit_profile(const TraceReader& trace, const FitSettings& settings) {
  const TraceHeader& header = trace.header();
  if (header.ranks < 2) {
    throw InputError("a fit needs what two ranks selected at least; the trace has one rank");
  }
  ProfileFit fit;
  Profile& profile = fit.profile;
  profile.name = settings.name;
  profile.source = header.source;
  profile.components = header.components;
  profile.layers = header.layers;
  profile.regions = regions_of(header, settings.parts);
  provide(profile, {"layers"}, {"fitted", "the trace's"});

  Selections selections(header, profile.regions, profile.popularity.block);
  LogThresholds logs;
  std::vector<int> iterations;
  for (std::size_t at = 0; at < trace.iterations().size(); ++at) {
    const TraceWindow window = trace.window(at);
    selections.add(window);
    if (std::ranges::any_of(window.thresholds, [](float t) { return !(t > 0); })) continue;
    iterations.push_back(window.iteration);
    logs.emplace_back();
    for (const float threshold : window.thresholds) logs.back().push_back(std::log(threshold));
  }
  if (selections.entries() == 0 || iterations.empty()) {
    throw InputError("a fit needs selections and thresholds above 0; the trace has none");
  }

  profile.density = rounded(selections.density());
  for (std::size_t i = 0; i < profile.regions.size(); ++i) {
    profile.regions[i].density =
        rounded(std::min(selections.region_density(i) / selections.density(), 1 / profile.density));
  }
  provide(profile, {"regions"},
          {"fitted", fmt::format("counts of {} iterations and {} ranks", trace.iterations().size(),
                                 header.ranks)});
  for (const int ranks : union_ranks(header.ranks)) {
    fit.unions.push_back({.ranks = ranks, .trace = selections.union_density(ranks)});
  }
  fit_popularity(profile, fit.unions);
  fit_clustering(profile, selections);
  for (FittedUnion& one : fit.unions) {
    one.copula = union_density(profile, PopularityFamily::copula, profile.density, one.ranks);
    one.beta = union_density(profile, PopularityFamily::beta, profile.density, one.ranks);
  }
  fit.magnitude_distance = fit_tail(profile, selections.magnitudes());
  fit_bulk(profile, trace);
  fit_start(profile, iterations, logs);
  fit.increments = fit_drift(profile, iterations, logs);
  fit.imbalance_trace = selections.imbalance();
  fit_bursts(profile, fit.imbalance_trace);
  fit.imbalance_profile = expected_imbalance(pieces_of(profile), profile.popularity.bursts);
  return fit;
}

}  // namespace thinwire::traces
