#include "algorithms/sparsifiers/exdyna_settling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "sim/core/base/random.hpp"

namespace thinwire::algorithms {

namespace {

constexpr int kSettlingRanks = 16;
constexpr std::int64_t kLeastWindow = 256;
constexpr std::int64_t kMostIterations = 20'000;
constexpr std::int64_t kMostRankIterations = std::int64_t{1} << 28U;
/// A mean of f that is not lower by this share is no fall.
constexpr double kFall = 0.01;
/// Iterations between samples.
constexpr int kApart = 16;
constexpr std::size_t kReplicates = 256;
constexpr std::uint64_t kReplicateDraws = 0x736574746c65;
/// f must fall again within this many iterations, within two windows, and within half as many
/// iterations as there were.
constexpr std::int64_t kPatience = 2048;
/// Distance of two tabulated thresholds, in their natural logarithm.
constexpr double kLevel = 0.05;
/// How many levels away the entries are still taken to be located alike.
constexpr int kNear = 2;
/// Logarithm of the largest change of a threshold, beyond which nothing settles.
constexpr double kFarthest = 8;

/// Draws how many entries of a rank's accumulator lie in a run of blocks and reach the threshold.
class BlockCounts {
 public:
  BlockCounts(const SchemeSetup& setup, const std::vector<std::int64_t>& blocks,
              const AccumulatorOf& of)
      : seed_(setup.seed) {
    for (const std::int64_t first : blocks) cuts_.push_back(setup.space.coordinate(first));
    cuts_.push_back(setup.space.coordinate(setup.space.components));
    const int ranks = std::min(setup.ranks, kSettlingRanks);
    for (int i = 0; i < ranks; ++i) {
      const Rank rank(static_cast<int>(part_begin(setup.ranks, ranks, i)));
      samples_.push_back({.accumulator = of(rank, 1 + (i + 1) * kApart),
                          .threshold = exdyna_first_threshold(setup, of(rank, 1))});
    }
  }
  /// Whether every rank has a first threshold.
  [[nodiscard]] bool usable() const {
    return std::ranges::all_of(samples_, [](const Sample& one) { return one.threshold > 0; });
  }

  /// Multiplies all first thresholds by exp(log_scale) from now on.
  void scale(double log_scale) {
    const double level = log_scale / kLevel;
    const auto nearest = static_cast<int>(std::lround(level));
    if (replicates_.empty() || std::abs(nearest - level_) > kNear) refer_to(nearest);
    const double low = std::floor(level);
    const double from = std::log1p(total(static_cast<int>(low)));
    const double to = std::log1p(total(static_cast<int>(low) + 1));
    factor_ = std::exp(from + (level - low) * (to - from) - std::log1p(total(level_)));
  }
  /// The entries of a rank in the blocks [first, last), another draw in every iteration.
  [[nodiscard]] std::int64_t draw(int rank, std::int64_t iteration, std::int64_t first,
                                  std::int64_t last) const {
    const std::size_t begin = random_bits(seed_, rank, iteration) % kReplicates * cuts_.size();
    const double entries = replicates_[begin + static_cast<std::size_t>(last)] -
                           replicates_[begin + static_cast<std::size_t>(first)];
    return static_cast<std::int64_t>(std::max(0.0, std::round(factor_ * entries)));
  }

 private:
  struct Sample {
    SparseVector accumulator;
    double threshold = 0;
  };

  [[nodiscard]] SparseVector selected(const Sample& sample, int level) const {
    return select_at_least(sample.accumulator,
                           static_cast<float>(sample.threshold * std::exp(kLevel * level)));
  }
  /// The entries of all samples.
  double total(int level) {
    const auto [found, missing] = totals_.try_emplace(level);
    if (missing) {
      for (const Sample& sample : samples_) {
        found->second += static_cast<double>(selected(sample, level).size());
      }
    }
    return found->second;
  }
  /// Makes the replicates for a level: before each cut, the mean of the samples and a normal
  /// combination of their deviations from it.
  void refer_to(int level) {
    level_ = level;
    const auto count = static_cast<double>(samples_.size());
    std::vector<std::vector<std::uint32_t>> before;
    std::vector<double> mean(cuts_.size());
    for (const Sample& sample : samples_) {
      before.push_back(selected(sample, level).positions_of(cuts_));
      for (std::size_t i = 0; i < cuts_.size(); ++i) mean[i] += before.back()[i] / count;
    }
    replicates_.clear();
    std::vector<double> replicate;
    for (std::size_t one = 0; one < kReplicates; ++one) {
      replicate = mean;
      for (std::size_t sample = 0; sample < before.size() && before.size() > 1; ++sample) {
        const double weight =
            normal_draw(random_bits(seed_, kReplicateDraws, one, sample)) / std::sqrt(count - 1);
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
          replicate[i] += weight * (before[sample][i] - mean[i]);
        }
      }
      std::ranges::transform(replicate, std::back_inserter(replicates_),
                             [](double value) { return static_cast<float>(value); });
    }
  }

  std::uint64_t seed_;
  std::vector<std::int64_t> cuts_;
  std::vector<Sample> samples_;
  std::map<int, double> totals_;
  int level_ = 0;
  std::vector<float> replicates_;  ///< at level_, one after another
  double factor_ = 1;              ///< from level_ to the threshold
};

}  // namespace

OptionInfo step_option() {
  return {.name = "step",
          .fallback = 0.005,
          .minimum = 0,
          .help = "γ: by which share the threshold moves",
          .maximum = 0.5};
}

OptionInfo settled_option(std::string help) {
  return {.name = "settled",
          .fallback = true,
          .minimum = 0,
          .help = std::move(help),
          .idle = [](const OptionUse& use) -> std::string {
            if (!use.start_up) return {};
            return "with input.start_up a run begins like a training anyway; leave one of them out";
          }};
}

SettledState settle_partitions(const SchemeSetup& setup, const AccumulatorOf& of,
                               PartitionControl control) {
  if (!setup.options.flag("settled")) return {};
  BlockCounts counts(setup, control.blocks, of);
  if (!counts.usable()) return {};
  const auto ranks = static_cast<std::int64_t>(setup.ranks);
  const std::int64_t window = (kLeastWindow + ranks - 1) / ranks * ranks;
  const std::int64_t most = std::min(kMostIterations, kMostRankIterations / ranks);
  const double step = setup.options.number("step");

  std::vector<std::int64_t> partitions = std::move(control.partitions);
  std::vector<std::int64_t> selected(static_cast<std::size_t>(ranks));
  double log_scale = 0;
  double least = std::numeric_limits<double>::infinity();
  std::int64_t fell = 0;  // the last window in which f fell or the threshold moved
  double before = 0;
  double traffic = 0;
  double mean_log = 0;
  std::int64_t iteration = 0;
  const std::int64_t patience = std::max(kPatience, 2 * window);
  const auto has_settled = [&] { return iteration - fell >= std::max(patience, fell / 2); };
  while (iteration < most && !has_settled() && std::abs(log_scale) < kFarthest) {
    ++iteration;
    const auto number = static_cast<int>(iteration);
    counts.scale(log_scale);
    for (int rank = 0; rank < setup.ranks; ++rank) {
      const std::size_t own = exdyna_allocation(setup.ranks, rank, number);
      selected[static_cast<std::size_t>(rank)] =
          counts.draw(rank, iteration, partitions[own], partitions[own + 1]);
    }
    const std::int64_t total = std::accumulate(selected.begin(), selected.end(), std::int64_t{0});
    traffic += total == 0 ? 1
                          : static_cast<double>(ranks * std::ranges::max(selected)) /
                                static_cast<double>(total);
    mean_log += log_scale;
    log_scale +=
        std::log(exdyna_scaling(total, setup.carried_k(), setup.options.number("tolerance"), step));
    partitions =
        exdyna_rebalance(std::move(partitions), exdyna_by_partition(selected, number), control.how);
    if (iteration % window != 0) continue;
    traffic /= static_cast<double>(window);
    mean_log /= static_cast<double>(window);
    if (traffic < (1 - kFall) * least || std::abs(mean_log - before) > 2 * step) {
      least = std::min(least, traffic);
      fell = iteration;
    }
    before = mean_log;
    traffic = mean_log = 0;
  }
  return {.iterations = static_cast<int>(iteration),
          .cut_short = !has_settled(),
          .scale = std::exp(log_scale),
          .partitions = std::move(partitions)};
}

SettledState settle_exdyna(const SchemeSetup& setup, const AccumulatorOf& of) {
  const BlockGrid grid =
      exdyna_blocks(setup.space.components, setup.options.integer("blocks"), setup.ranks);
  std::vector<std::int64_t> blocks;
  for (std::int64_t block = 0; block < grid.count; ++block) blocks.push_back(block * grid.size);
  return settle_partitions(setup, of,
                           {.blocks = std::move(blocks),
                            .partitions = exdyna_partition(grid.count, setup.ranks),
                            .how = exdyna_rebalancing(setup, grid)});
}

}  // namespace thinwire::algorithms
