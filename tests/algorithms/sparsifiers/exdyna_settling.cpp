#include "algorithms/sparsifiers/exdyna_settling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "algorithms/sparsifiers/exdyna.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::int64_t kSettlingComponents = 40000;

/// Layers as long as a partition of 16; every other one has values that are twice as large.
SparseVector layered(Rank rank, int iteration) {
  const auto seed = static_cast<std::uint64_t>(1000 * iteration + rank.value());
  return test::filled(kSettlingComponents, [&](std::int64_t i) {
    const bool large = i * 16 / kSettlingComponents % 2 == 0;
    return test::stretched_value(seed, i, 1) * (large ? 2 : 1);
  });
}

SettledState settle_with(int ranks, const std::map<std::string, OptionValue>& options,
                         std::int64_t k = 2000, const AccumulatorOf& of = layered) {
  const SparsifierInfo info = exdyna_sparsifier();
  const SchemeSetup setup{.ranks = ranks,
                          .space = {.components = kSettlingComponents, .granule = 1},
                          .k = k,
                          .options = Options(info.options, options)};
  return settle_exdyna(setup, of);
}

/// f and the count over k, in the mean over iterations with fresh draws.
struct Means {
  double traffic = 0;
  double count = 0;
};

Means means_of(int ranks, const std::vector<std::int64_t>& partitions, std::int64_t block,
               double scale, std::int64_t k) {
  constexpr int kIterations = 32;
  Means means;
  std::vector<double> thresholds;
  for (int rank = 0; rank < ranks; ++rank) {
    thresholds.push_back(scale * kth_magnitude(layered(Rank(rank), 1), k));
  }
  for (int iteration = 1; iteration <= kIterations; ++iteration) {
    std::int64_t most = 0;
    std::int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<std::size_t>((iteration + rank) % ranks);
      const bool last = at + 1 == static_cast<std::size_t>(ranks);
      const std::int64_t end = last ? kSettlingComponents : partitions[at + 1] * block;
      std::int64_t count = 0;
      const SparseVector accumulated = layered(Rank(rank), 100 + iteration);
      for (const Entry& entry : accumulated.entries()) {
        if (entry.coordinate < partitions[at] * block || entry.coordinate >= end) continue;
        count += std::abs(entry.value) >= thresholds[static_cast<std::size_t>(rank)] ? 1 : 0;
      }
      most = std::max(most, count);
      total += count;
    }
    means.traffic += static_cast<double>(most * ranks) / static_cast<double>(total) / kIterations;
    means.count += static_cast<double>(total) / static_cast<double>(k) / kIterations;
  }
  return means;
}

}  // namespace

TEST_CASE("exdyna settles at partitions and a threshold that new gradients find even" *
          doctest::test_suite("large")) {
  constexpr int kRanks = 16;
  constexpr std::int64_t kWanted = 2000;
  const SettledState state = settle_with(kRanks, {}, kWanted);
  const BlockGrid grid = exdyna_blocks(kSettlingComponents, 1024, kRanks);
  REQUIRE(state.partitions.size() == kRanks + 1);
  CHECK(state.partitions.front() == 0);
  CHECK(state.partitions.back() == grid.count);
  CHECK(state.iterations > 256);
  CHECK(state.iterations < 20000);
  const Means at_first =
      means_of(kRanks, exdyna_partition(grid.count, kRanks), grid.size, 1, kWanted);
  const Means settled = means_of(kRanks, state.partitions, grid.size, state.scale, kWanted);
  CHECK(at_first.traffic > 1.5);
  CHECK(settled.traffic < 1.3);  // 125 a partition, scattered by 11: 1.17 where they are even
  CHECK(settled.count > 0.88);   // the equilibrium is 1/1.1
  CHECK(settled.count < 0.97);
}

TEST_CASE("exdyna settles in the same way every time") {
  const SettledState one = settle_with(7, {});
  const SettledState other = settle_with(7, {});
  CHECK(one.iterations == other.iterations);
  CHECK(one.scale == other.scale);
  CHECK(one.partitions == other.partitions);
}

TEST_CASE("exdyna finds a threshold from far away") {
  const SettledState state = settle_with(4, {{"threshold", 0.5}});
  const BlockGrid grid = exdyna_blocks(kSettlingComponents, 1024, 4);
  std::vector<std::int64_t> counts;
  const double threshold = 0.5 * state.scale;
  for (int rank = 0; rank < 4; ++rank) {
    counts.push_back(static_cast<std::int64_t>(
        select_at_least(layered(Rank(rank), 7), static_cast<float>(threshold)).size()));
  }
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / 4;
  CHECK(mean / 2000 > 0.85);
  CHECK(mean / 2000 < 1);
  CHECK(state.partitions.back() == grid.count);
}

TEST_CASE("exdyna tells when it was not seen to settle") {
  CHECK_FALSE(settle_with(4, {}).cut_short);
  // Nothing reaches such a threshold, and it falls until the search gives up.
  CHECK(settle_with(4, {{"threshold", 1e9}}).cut_short);
}

TEST_CASE("exdyna with static partitions settles its threshold only") {
  for (const int ranks : {1, 2, 3, 7, 12}) {
    CAPTURE(ranks);
    const SettledState state = settle_with(ranks, {{"blk_move", std::int64_t{0}}});
    const BlockGrid grid = exdyna_blocks(kSettlingComponents, 1024, ranks);
    CHECK(state.partitions == exdyna_partition(grid.count, ranks));
    CHECK(state.scale > 1);
    CHECK(state.scale < 1.1);
  }
}

TEST_CASE("exdyna does not settle where it is told not to, or where all values are 0") {
  CHECK(settle_with(4, {{"settled", false}}).iterations == 0);
  const auto zeros = [](Rank, int) { return SparseVector(); };
  CHECK(settle_with(4, {}, 2000, zeros).iterations == 0);
  CHECK(settle_with(4, {}, 0).iterations > 0);  // nothing is wanted
}

TEST_CASE("A rank of exdyna begins with the settled partitions and scales its first threshold") {
  SharedWork shared(64);
  const SparsifierInfo info = exdyna_sparsifier();
  const SchemeSetup setup{
      .ranks = 2,
      .space = {.components = 256, .granule = 1},
      .k = 2,
      .options = Options(info.options, {{"blocks", std::int64_t{8}}, {"threshold", 1.0}}),
      .shared = &shared,
      .settled = {.iterations = 9, .scale = 2, .partitions = {0, 1, 8}}};
  const std::unique_ptr<Sparsifier> rank = info.make(setup);
  const SparseVector accumulated = SparseVector::checked({{3, 1.5F}, {31, 2.5F}, {32, 3.0F}});
  const Selection selection = rank->select(accumulated, Rank(0), 2);  // partition 0
  CHECK(selection.work.compared == 32);
  CHECK(test::entries_of(selection.selected) == test::Entries{{31, 2.5F}});
}

TEST_CASE("exdyna moves as many blocks at once as it is told") {
  const Rebalancing two{.blk_move = 2, .min_blk = 1, .share = 1.0 / 16};
  const std::vector<std::int64_t> even{0, 4, 8, 12, 16};
  CHECK(exdyna_rebalance(even, {16, 4, 10, 10}, two) == std::vector<std::int64_t>{0, 2, 8, 12, 16});
  // The counts move with them: 20 - 5 and 0 + 5, so the third gives nothing, as it is not crowded.
  CHECK(exdyna_rebalance(even, {20, 0, 10, 10}, two) == std::vector<std::int64_t>{0, 2, 8, 12, 16});
  const Rebalancing three{.blk_move = 3, .min_blk = 2, .share = 1.0 / 16};
  CHECK(exdyna_rebalance(even, {16, 4, 10, 10}, three) == even);
  const Rebalancing none{.blk_move = 0, .min_blk = 1, .share = 1.0 / 16};
  CHECK(exdyna_rebalance(even, {40, 0, 0, 0}, none) == even);
}

}  // namespace thinwire::algorithms
