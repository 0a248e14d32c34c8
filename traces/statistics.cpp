#include "traces/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace thinwire::traces {

namespace {

constexpr int kRegions = 64;
constexpr std::array kShownLags{1, 8, 32};

/// Minimum, mean and maximum of a stream of values.
class Spread {
 public:
  void add(double x) {
    least_ = std::min(least_, x);
    most_ = std::max(most_, x);
    sum_ += x;
    ++count_;
  }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / count_; }
  [[nodiscard]] Range range() const {
    if (count_ == 0) return {};
    return {.least = least_, .mean = mean(), .most = most_};
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  double count_ = 0;
};

using Coordinates = std::vector<std::uint32_t>;

Coordinates coordinates_of(const SparseVector& vector) {
  Coordinates coordinates(vector.size());
  std::ranges::transform(vector.entries(), coordinates.begin(), &Entry::coordinate);
  return coordinates;
}

Coordinates merged(const Coordinates& a, const Coordinates& b) {
  Coordinates both;
  both.reserve(a.size() + b.size());
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

double independent_union(double density, int ranks) {
  return -std::expm1(ranks * std::log1p(-density));
}

void add_layers(const SparseVector& selected, const std::vector<Layer>& layers,
                std::vector<std::int64_t>& counts) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t last = layers[i].first + layers[i].size;
    const std::size_t end = selected.position_of(static_cast<std::uint32_t>(last), begin);
    counts[i] += static_cast<std::int64_t>(end - begin);
    begin = end;
  }
}

std::vector<std::int64_t> window_regions(const TraceWindow& window, std::int64_t components) {
  std::vector<std::int64_t> all(kRegions);
  for (const SparseVector& selected : window.selected) {
    const std::vector<std::int64_t> counts = region_counts(selected, components, kRegions);
    std::ranges::transform(all, counts, all.begin(), std::plus{});
  }
  return all;
}

double total_variation(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto sum_a = static_cast<double>(std::accumulate(a.begin(), a.end(), std::int64_t{0}));
  const auto sum_b = static_cast<double>(std::accumulate(b.begin(), b.end(), std::int64_t{0}));
  if (sum_a == 0 || sum_b == 0) return 0;
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += std::abs(static_cast<double>(a[i]) / sum_a - static_cast<double>(b[i]) / sum_b);
  }
  return distance / 2;
}

/// The expected distance of two samples of one distribution with independent entries: the mean of
/// difference| is √(2/π) of its deviation, √(p (1 - p) (1/a + 1/b)).
double total_variation_by_chance(const std::vector<std::int64_t>& a,
                                 const std::vector<std::int64_t>& b) {
  const auto sum_a = static_cast<double>(std::accumulate(a.begin(), a.end(), std::int64_t{0}));
  const auto sum_b = static_cast<double>(std::accumulate(b.begin(), b.end(), std::int64_t{0}));
  if (sum_a == 0 || sum_b == 0) return 0;
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double p = static_cast<double>(a[i] + b[i]) / (sum_a + sum_b);
    distance += std::sqrt(p * (1 - p) * (1 / sum_a + 1 / sum_b));
  }
  return distance * std::sqrt(2 / std::acos(-1.0)) / 2;
}

Thresholds thresholds_of(const TraceWindow& window) {
  Spread spread;
  for (const float threshold : window.thresholds) spread.add(threshold);
  return {.iteration = window.iteration,
          .local = spread.range(),
          .global = window.global_threshold ? std::optional<double>(*window.global_threshold)
                                            : std::nullopt};
}

}  // namespace

std::vector<UnionDensity> union_densities(const TraceWindow& window, std::int64_t components) {
  std::vector<Coordinates> groups;
  for (const SparseVector& selected : window.selected) groups.push_back(coordinates_of(selected));
  const auto ranks = static_cast<int>(groups.size());
  std::vector<UnionDensity> densities;
  for (int together = 1; together <= ranks; together *= 2) {
    const int whole = ranks / together;  // the groups after these are incomplete
    double sum = 0;
    for (int i = 0; i < whole; ++i) {
      sum += static_cast<double>(groups[static_cast<std::size_t>(i)].size());
    }
    densities.push_back({.ranks = together,
                         .density = sum / whole / static_cast<double>(components),
                         .independent = 0});
    std::vector<Coordinates> pairs;
    for (std::size_t i = 0; i < groups.size(); i += 2) {
      pairs.push_back(i + 1 < groups.size() ? merged(groups[i], groups[i + 1])
                                            : std::move(groups[i]));
    }
    groups = std::move(pairs);
  }
  // All groups are merged by now; the last merge included the incomplete ones.
  if (densities.back().ranks < ranks) {
    densities.push_back(
        {.ranks = ranks,
         .density = static_cast<double>(groups.front().size()) / static_cast<double>(components),
         .independent = 0});
  }
  for (UnionDensity& density : densities) {
    density.independent = independent_union(densities.front().density, density.ranks);
  }
  return densities;
}

SparseVector global_top_k(const TraceWindow& window, std::int64_t k) {
  return select_largest(sum(window.selected), k);
}

std::vector<std::int64_t> region_counts(const SparseVector& vector, std::int64_t components,
                                        int regions) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(regions));
  std::size_t begin = 0;
  for (int i = 0; i < regions; ++i) {
    const std::int64_t last = part_begin(components, regions, i + 1);
    const std::size_t end = vector.position_of(static_cast<std::uint32_t>(last), begin);
    counts[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(end - begin);
    begin = end;
  }
  return counts;
}

double imbalance(const std::vector<std::int64_t>& counts) {
  const auto sum =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  if (sum == 0) return 1;
  return static_cast<double>(std::ranges::max(counts)) * static_cast<double>(counts.size()) / sum;
}

ThresholdSteps threshold_drift(const std::vector<int>& iterations,
                               const std::vector<std::vector<float>>& thresholds, int lag) {
  ThresholdSteps drift{.lag = lag};
  double squares = 0;  // about the running mean (Welford)
  for (std::size_t at = 0; at < iterations.size(); ++at) {
    const auto later = std::ranges::lower_bound(iterations, std::int64_t{iterations[at]} + lag);
    if (later == iterations.end() || *later != iterations[at] + lag) continue;
    const auto to = static_cast<std::size_t>(later - iterations.begin());
    for (std::size_t rank = 0; rank < thresholds[at].size(); ++rank) {
      const double before = thresholds[at][rank];
      const double after = thresholds[to][rank];
      if (before == 0 || after == 0) continue;
      const double step = std::log(after / before);
      const double off = step - drift.mean;
      ++drift.pairs;
      drift.mean += off / static_cast<double>(drift.pairs);
      squares += off * (step - drift.mean);
    }
  }
  if (drift.pairs > 1) drift.deviation = std::sqrt(squares / static_cast<double>(drift.pairs - 1));
  return drift;
}

namespace {

/// Gathers the statistics of a trace, window by window.
class Statistics {
 public:
  explicit Statistics(const TraceReader& reader)
      : reader_(reader), header_(reader.header()), layer_counts_(header_.layers.size()) {}

  TraceStatistics all() {
    for (std::size_t at = 0; at < reader_.iterations().size(); ++at) add(at);
    finish();
    return std::move(result_);
  }

 private:
  void add(std::size_t at) {
    TraceWindow window = reader_.window(at);
    for (std::size_t rank = 0; rank < window.selected.size(); ++rank) {
      add_selection(window.selected[rank], rank);
    }
    const std::vector<UnionDensity> unions = union_densities(window, header_.components);
    result_.unions.resize(unions.size());
    for (std::size_t i = 0; i < unions.size(); ++i) {
      result_.unions[i].ranks = unions[i].ranks;
      result_.unions[i].density += unions[i].density / windows();
    }
    global_.add(imbalance(
        region_counts(global_top_k(window, header_.k()), header_.components, header_.ranks)));
    if (at == 0) first_regions_ = window_regions(window, header_.components);
    if (at + 1 == reader_.iterations().size()) {
      last_regions_ = window_regions(window, header_.components);
    }
    result_.thresholds.push_back(thresholds_of(window));
    thresholds_.push_back(std::move(window.thresholds));
    before_ = std::move(window.selected);
  }

  void add_selection(const SparseVector& selected, std::size_t rank) {
    selected_by_k_.add(static_cast<double>(selected.size()) / static_cast<double>(header_.k()));
    add_layers(selected, header_.layers, layer_counts_);
    if (selected.size() > 0) {
      local_.add(imbalance(region_counts(selected, header_.components, kRegions)));
    }
    if (!before_.empty() && before_[rank].size() > 0) {
      kept_.add(static_cast<double>(intersect(before_[rank], selected).size()) /
                static_cast<double>(before_[rank].size()));
    }
  }

  void finish() {
    for (std::size_t i = 0; i < layer_counts_.size(); ++i) {
      const double places = static_cast<double>(header_.layers[i].size) * header_.ranks * windows();
      result_.layer_density.push_back(static_cast<double>(layer_counts_[i]) / places);
    }
    for (UnionDensity& density : result_.unions) {
      density.independent = independent_union(result_.unions.front().density, density.ranks);
    }
    for (const int lag : kShownLags) {
      result_.drifts.push_back(threshold_drift(reader_.iterations(), thresholds_, lag));
    }
    result_.selected = selected_by_k_.range();
    result_.local_imbalance = local_.mean();
    result_.global_imbalance = global_.mean();
    result_.kept = kept_.mean();
    result_.total_variation = total_variation(first_regions_, last_regions_);
    result_.total_variation_by_chance = total_variation_by_chance(first_regions_, last_regions_);
  }

  [[nodiscard]] double windows() const { return static_cast<double>(reader_.iterations().size()); }

  const TraceReader& reader_;
  const TraceHeader& header_;
  TraceStatistics result_;
  std::vector<std::int64_t> layer_counts_;
  std::vector<std::vector<float>> thresholds_;
  std::vector<std::int64_t> first_regions_;
  std::vector<std::int64_t> last_regions_;
  std::vector<SparseVector> before_;
  Spread selected_by_k_;
  Spread local_;
  Spread global_;
  Spread kept_;
};

}  // namespace

TraceStatistics statistics_of(const TraceReader& reader) { return Statistics(reader).all(); }

}  // namespace thinwire::traces
