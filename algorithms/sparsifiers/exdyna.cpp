#include "algorithms/sparsifiers/exdyna.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/sparsifiers/exdyna_settling.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

class ExDyna final : public Sparsifier {
 public:
  explicit ExDyna(const SchemeSetup& setup)
      : setup_(setup),
        grid_(exdyna_blocks(setup.space.components, setup.options.integer("blocks"), setup.ranks)),
        partitions_(first_partitions()),
        threshold_(setup.options.number("threshold") * setup.settled.scale) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    if (threshold_ == 0) {
      threshold_ = exdyna_first_threshold(setup_, accumulated) * setup_.settled.scale;
    }
    const std::size_t own = exdyna_allocation(setup_.ranks, rank.value(), iteration);
    const std::int64_t begin = component(own);
    const std::int64_t end = component(own + 1);
    const GradientSpace& space = setup_.space;
    const std::size_t first = accumulated.position_of(space.coordinate(begin));
    const std::size_t last = accumulated.position_of(space.coordinate(end), first);
    return {
        .selected = select_at_least(accumulated.slice(first, last), static_cast<float>(threshold_)),
        .work = {.compared = end - begin, .prefix_summed = end - begin},
        .own_part = true};
  }

  void observe(const Numbers& counts, int iteration) override {
    const std::int64_t selected = counts.total();
    const Options& options = setup_.options;
    threshold_ *= exdyna_scaling(selected, setup_.carried_k(), options.number("tolerance"),
                                 options.number("step"));
    const Message before = partitions_.message();
    const auto after = [&] {
      const auto all = partitions_.all();
      return Numbers(exdyna_rebalance({all.begin(), all.end()},
                                      exdyna_by_partition(counts.all(), iteration),
                                      exdyna_rebalancing(setup_, grid_)))
          .message();
    };
    partitions_ = Numbers::from(setup_.shared
                                    ->once("exdyna_rebalance",
                                           fingerprint(before) + counts.contents() + of(iteration),
                                           std::span(&before, 1), after)
                                    .payload);
  }

 private:
  [[nodiscard]] static Fingerprint of(std::int64_t number) {
    return {random_bits(1, number), random_bits(2, number)};
  }

  [[nodiscard]] Numbers first_partitions() const {
    const std::vector<std::int64_t>& settled = setup_.settled.partitions;
    const auto first = [&] {
      return Numbers(settled.empty() ? exdyna_partition(grid_.count, setup_.ranks) : settled)
          .message();
    };
    return Numbers::from(
        setup_.shared->once("exdyna_partition", of(grid_.count), {}, first).payload);
  }

  /// The first component of a partition, or the end of the last one, which includes the remainder.
  [[nodiscard]] std::int64_t component(std::size_t partition) const {
    if (std::cmp_equal(partition, setup_.ranks)) return setup_.space.components;
    return partitions_[partition] * grid_.size;
  }

  const SchemeSetup& setup_;
  BlockGrid grid_;
  Numbers partitions_;
  double threshold_;  ///< 0: not set yet
};

}  // namespace

BlockGrid exdyna_blocks(std::int64_t n, std::int64_t wanted, int ranks) {
  const std::int64_t count = std::max(wanted, 4 * std::int64_t{ranks});
  const std::int64_t size = n / count - n / count % 32;
  if (size > 0 && 2 * std::int64_t{ranks} * (n - count * size) <= n) return {size, count};
  const std::int64_t plain = std::max(std::int64_t{1}, n / count);
  return {plain, n / plain};
}

std::vector<std::int64_t> exdyna_partition(std::int64_t blocks, int ranks) {
  std::vector<std::int64_t> partitions;
  for (std::int64_t i = 0; i <= ranks; ++i) partitions.push_back(part_begin(blocks, ranks, i));
  return partitions;
}

std::size_t exdyna_allocation(int ranks, int rank, int iteration) {
  return static_cast<std::size_t>((iteration % ranks + rank) % ranks);
}

std::vector<double> exdyna_by_partition(std::span<const std::int64_t> counts, int iteration) {
  std::vector<double> selected(counts.size());
  const auto ranks = static_cast<int>(counts.size());
  for (int rank = 0; rank < ranks; ++rank) {
    selected[exdyna_allocation(ranks, rank, iteration)] =
        static_cast<double>(counts[static_cast<std::size_t>(rank)]);
  }
  return selected;
}

Rebalancing exdyna_rebalancing(const SchemeSetup& setup, const BlockGrid& grid) {
  const Options& options = setup.options;
  const std::int64_t a_quarter = grid.count / (4 * std::int64_t{setup.ranks});
  const std::int64_t given = options.integer("min_blk");
  return {.imbalance = options.number("imbalance"),
          .blk_move = options.integer("blk_move"),
          .min_blk = given > 0 ? given : std::max(std::int64_t{1}, a_quarter),
          .share = static_cast<double>(grid.size) / static_cast<double>(setup.space.components)};
}

double exdyna_first_threshold(const SchemeSetup& setup, const SparseVector& accumulated) {
  const double given = setup.options.number("threshold");
  if (given > 0) return given;
  const float exact = kth_magnitude(accumulated, setup.carried_k());
  return exact > 0 ? exact : least_magnitude(accumulated);
}

std::vector<std::int64_t> exdyna_rebalance(std::vector<std::int64_t> partitions,
                                           std::vector<double> selected, const Rebalancing& how) {
  const double total = std::accumulate(selected.begin(), selected.end(), 0.0);
  if (total == 0) return partitions;
  const double mean = total / static_cast<double>(selected.size());
  const double moved = total * how.share * static_cast<double>(how.blk_move);
  const auto crowded = [&](std::size_t i) { return selected[i] > how.imbalance * mean; };
  const auto sparse = [&](std::size_t i) { return selected[i] * how.imbalance < mean; };
  const auto can_give = [&](std::size_t i) {
    return partitions[i + 1] - partitions[i] - how.blk_move >= how.min_blk;
  };
  for (std::size_t left = 0; left + 1 < selected.size(); ++left) {
    const std::size_t right = left + 1;
    if (crowded(left) && sparse(right) && can_give(left)) {
      partitions[right] -= how.blk_move;
      selected[left] -= moved;
      selected[right] += moved;
    } else if (sparse(left) && crowded(right) && can_give(right)) {
      partitions[right] += how.blk_move;
      selected[left] += moved;
      selected[right] -= moved;
    }
  }
  return partitions;
}

double exdyna_scaling(std::int64_t selected, std::int64_t wanted, double tolerance, double step) {
  if (wanted == 0) return 1;
  const double ratio = static_cast<double>(selected) / static_cast<double>(wanted);
  if (ratio > tolerance) return 1 + step;
  if (ratio > 1 / tolerance) return 1 + step / 4;
  return 1 - step;
}

namespace {

/// Whether partitions can give blocks to others, and how many at once.
struct Movement {
  std::int64_t blk_move = 0;
  std::int64_t min_blk = 0;
  std::int64_t blocks = 0;  ///< of the largest partition at first

  explicit Movement(const OptionUse& use) {
    const SchemeSetup setup{
        .ranks = use.ranks, .space = {.components = use.n}, .options = use.options};
    const BlockGrid grid = exdyna_blocks(use.n, use.options.integer("blocks"), use.ranks);
    const Rebalancing how = exdyna_rebalancing(setup, grid);
    blk_move = how.blk_move;
    min_blk = how.min_blk;
    blocks = part_begin(grid.count, use.ranks, 1);
  }
  [[nodiscard]] bool possible() const { return blk_move > 0 && blocks - blk_move >= min_blk; }
};

std::string why_no_block_moves(const OptionUse& use) {
  const Movement movement(use);
  if (movement.blk_move == 0 || movement.possible()) return {};
  if (movement.blocks <= movement.min_blk) {
    return fmt::format(
        "a partition has {} blocks and keeps {}, so none moves and partitions are static; set "
        "options.min_blk below {}, or more options.blocks",
        movement.blocks, movement.min_blk, movement.blocks);
  }
  return fmt::format(
      "a partition has {} blocks and keeps {}, so with blk_move={} none moves and partitions are "
      "static; set options.blk_move to {} at most (0: static on purpose), or more options.blocks",
      movement.blocks, movement.min_blk, movement.blk_move, movement.blocks - movement.min_blk);
}

std::string why_partitions_are_static(const OptionUse& use) {
  if (use.options.integer("blk_move") > 0) return why_no_block_moves(use);
  return "partitions are static with blk_move=0; set options.blk_move, or leave it out";
}

std::string why_nothing_is_kept(const OptionUse& use) {
  // Where 'min_blk' itself keeps all blocks in their places, it does change something.
  const Movement movement(use);
  return movement.blk_move > 0 && movement.blk_move < movement.blocks
             ? std::string()
             : why_partitions_are_static(use);
}

}  // namespace

SparsifierInfo exdyna_sparsifier() {
  return {.name = "exdyna",
          .summary = "each rank selects in a partition of its own; all ranks together select k",
          .source = "ExDyna (2024), Algorithms 2-5",
          .draws = true,
          .needs = Needs::values_of_all,
          .options = {{"blocks", std::int64_t{1024}, 1, "blocks of the gradient; 4 P if more"},
                      {.name = "blk_move",
                       .fallback = std::int64_t{1},
                       .minimum = 0,
                       .help = "blocks that move at once; 0: partitions are static (Figure 9)",
                       .idle = why_no_block_moves},
                      {.name = "min_blk",
                       .fallback = std::int64_t{0},
                       .minimum = 0,
                       .help = "blocks that a partition keeps; 0: a quarter of the mean",
                       .idle = why_nothing_is_kept},
                      {.name = "imbalance",
                       .fallback = 1.05,
                       .minimum = 1,
                       .help = "α: from which a partition gives a block",
                       .idle = why_partitions_are_static},
                      {"tolerance", 1.1, 1, "β: up to which the threshold rises slowly"},
                      step_option(),
                      {"threshold", 0.0, 0,
                       "the first one; 0: the exact one of each rank's first accumulator"},
                      settled_option("a run, unless of a start-up, begins once partitions and "
                                     "threshold have settled")},
          .settle = settle_exdyna,
          .make = [](const SchemeSetup& setup) { return std::make_unique<ExDyna>(setup); }};
}

}  // namespace thinwire::algorithms
