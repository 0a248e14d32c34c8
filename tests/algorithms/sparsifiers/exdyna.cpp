#include "algorithms/sparsifiers/exdyna.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

using List = std::vector<std::int64_t>;

/// One iteration of all ranks, with what they selected told to them.
List iterate(SparsifierRanks& ranks, const std::vector<SparseVector>& accumulated, int iteration) {
  List counts;
  for (std::size_t rank = 0; rank < accumulated.size(); ++rank) {
    counts.push_back(size_of(ranks.select(accumulated[rank], iteration, static_cast<int>(rank))));
  }
  ranks.observe(Numbers(counts), iteration);
  ranks.clear_shared();
  return counts;
}

std::int64_t total(const List& list) {
  return std::accumulate(list.begin(), list.end(), std::int64_t{0});
}

/// f(t), Equation 5.
double traffic_ratio(const List& counts) {
  return static_cast<double>(std::ranges::max(counts)) * static_cast<double>(counts.size()) /
         static_cast<double>(total(counts));
}

}  // namespace

TEST_CASE("Blocks are 1024 of a multiple of 32, as the paper has them, where P and n allow that") {
  CHECK(exdyna_blocks(1 << 20, 1024, 16) == BlockGrid{1024, 1024});
  CHECK(exdyna_blocks(60'192'808, 1024, 16) == BlockGrid{58752, 1024});  // 58782 rounded down
  CHECK(exdyna_blocks(60'192'808, 1024, 256) == BlockGrid{58752, 1024});
  CHECK(exdyna_blocks(1 << 20, 100, 16) == BlockGrid{10464, 100});
  // More ranks than a quarter of the blocks: four a partition.
  CHECK(exdyna_blocks(1 << 20, 1024, 512) == BlockGrid{512, 2048});
  CHECK(exdyna_blocks(1 << 20, 1024, 4096) == BlockGrid{64, 16384});
  // What the rounding leaves over would be most of everything: no rounding.
  CHECK(exdyna_blocks(64000, 1024, 16) == BlockGrid{62, 1032});
  CHECK(exdyna_blocks(1000, 1024, 16) == BlockGrid{1, 1000});
  CHECK(exdyna_blocks(5, 1024, 16) == BlockGrid{1, 5});
}

TEST_CASE("Blocks fill the space, and what is left over is less than half a partition") {
  for (const std::int64_t n : {1, 31, 32, 1000, 4096, 16384, 99999, 1'000'000, 133'547'324}) {
    for (const std::int64_t wanted : {1, 4, 100, 1024, 5000}) {
      for (const int ranks : {1, 2, 3, 7, 12, 64, 1000, 4096}) {
        CAPTURE(n);
        CAPTURE(wanted);
        CAPTURE(ranks);
        const BlockGrid grid = exdyna_blocks(n, wanted, ranks);
        const std::int64_t rest = n - grid.size * grid.count;
        CHECK(rest >= 0);
        CHECK((rest < grid.size || 2 * rest * ranks <= n));
        CHECK(grid.count >= std::min(n, 4 * std::int64_t{ranks}));
        CHECK((grid.size % 32 == 0 || grid.count >= std::min(n, wanted)));
      }
    }
  }
}

TEST_CASE("Algorithm 2 gives every rank an even run of blocks, and together they are all") {
  CHECK(exdyna_partition(8, 2) == List{0, 4, 8});
  CHECK(exdyna_partition(10, 4) == List{0, 3, 6, 8, 10});  // 3, 3, 2, 2
  CHECK(exdyna_partition(5, 1) == List{0, 5});
  for (const std::int64_t n : {4096, 16384, 99999, 1'000'000, 133'547'324}) {
    for (const std::int64_t wanted : {1, 100, 1024}) {
      for (const int ranks : {1, 2, 3, 7, 12, 64, 1000, 4096}) {
        const BlockGrid grid = exdyna_blocks(n, wanted, ranks);
        const List partitions = exdyna_partition(grid.count, ranks);
        REQUIRE(partitions.size() == static_cast<std::size_t>(ranks) + 1);
        CHECK(partitions.front() == 0);
        CHECK(partitions.back() == grid.count);
        std::int64_t least = n;
        std::int64_t most = 0;
        for (std::size_t i = 0; i + 1 < partitions.size(); ++i) {
          least = std::min(least, partitions[i + 1] - partitions[i]);
          most = std::max(most, partitions[i + 1] - partitions[i]);
        }
        CHECK(least >= 1);
        CHECK(most - least <= 1);
        if (n >= 16 * std::int64_t{ranks}) CHECK(least >= 4);
      }
    }
  }
}

TEST_CASE("Every iteration allocates every partition once, and each rank moves on by one") {
  for (const int ranks : {1, 2, 3, 7, 12, 64}) {
    for (const int iteration : {1, 2, 63, 64, 1000, 2147483647}) {
      std::set<std::size_t> taken;
      for (int rank = 0; rank < ranks; ++rank) {
        const std::size_t own = exdyna_allocation(ranks, rank, iteration);
        CHECK(std::cmp_less(own, ranks));
        taken.insert(own);
        if (iteration < 2000) {
          CHECK(exdyna_allocation(ranks, rank, iteration + 1) ==
                (own + 1) % static_cast<std::size_t>(ranks));
        }
      }
      CHECK(taken.size() == static_cast<std::size_t>(ranks));
    }
  }
  CHECK(exdyna_allocation(4, 3, 2) == 1);
}

TEST_CASE("Counts of ranks become counts of the partitions that they had") {
  const List counts{10, 20, 30};
  CHECK(exdyna_by_partition(counts, 3) == std::vector<double>{10, 20, 30});
  CHECK(exdyna_by_partition(counts, 1) == std::vector<double>{30, 10, 20});
  CHECK(exdyna_by_partition(counts, 2) == std::vector<double>{20, 30, 10});
}

TEST_CASE("Algorithm 3 moves a block from a crowded neighbour to a sparse one") {
  const Rebalancing how{.imbalance = 1.05, .min_blk = 1, .share = 1.0 / 16};
  const List even{0, 4, 8, 12, 16};
  CHECK(exdyna_rebalance(even, {10, 10, 10, 10}, how) == even);
  CHECK(exdyna_rebalance(even, {0, 0, 0, 0}, how) == even);
  CHECK(exdyna_rebalance(even, {16, 4, 10, 10}, how) == List{0, 3, 8, 12, 16});  // to the right
  CHECK(exdyna_rebalance(even, {4, 16, 10, 10}, how) == List{0, 5, 8, 12, 16});  // to the left
  CHECK(exdyna_rebalance(even, {10, 10, 4, 16}, how) == List{0, 4, 8, 13, 16});
  // Neither is within 5% of the mean, but both are on the same side of it, or not neighbours.
  CHECK(exdyna_rebalance(even, {16, 16, 4, 4}, how) == List{0, 4, 7, 12, 16});
  CHECK(exdyna_rebalance(even, {16, 10, 4, 10}, how) == even);
  // 5% is not more than 5%.
  CHECK(exdyna_rebalance({0, 4, 8}, {104, 96}, how) == List{0, 4, 8});
  CHECK(exdyna_rebalance({0, 4, 8}, {106, 94}, how) == List{0, 3, 8});
  CHECK(exdyna_rebalance({0, 4, 8}, {105.1, 95.5}, how) == List{0, 4, 8});
}

TEST_CASE(
    "Algorithm 3 counts a moved block with its new partition when it comes to the next pair") {
  // 40 in all, 10 on average, 2.5 a block. {20, 0, 11, 9}: the first pair moves one block. The second
  // partition then counts 2.5, is still sparse, and gets a block from the third. The third then counts
  // 8.5 and is sparse, but the fourth is not crowded.
  const Rebalancing how{.imbalance = 1.05, .min_blk = 1, .share = 1.0 / 16};
  CHECK(exdyna_rebalance({0, 4, 8, 12, 16}, {20, 0, 11, 9}, how) == List{0, 3, 9, 12, 16});
  // {12, 8, 12, 8}: after the first move 9.5 and 10.5: the second is not sparse any more, so the
  // third keeps what it has and gives to the fourth.
  CHECK(exdyna_rebalance({0, 4, 8, 12, 16}, {12, 8, 12, 8}, how) == List{0, 3, 8, 11, 16});
  // Without the correction the third would have given one to the second as well: 9, 11.
}

TEST_CASE("Algorithm 3 leaves a partition the fewest blocks that it may have") {
  Rebalancing how{.imbalance = 1.05, .min_blk = 2, .share = 1.0 / 8};
  CHECK(exdyna_rebalance({0, 3, 8}, {30, 10}, how) == List{0, 2, 8});
  CHECK(exdyna_rebalance({0, 2, 8}, {30, 10}, how) == List{0, 2, 8});
  CHECK(exdyna_rebalance({0, 6, 8}, {10, 30}, how) == List{0, 6, 8});
  how.min_blk = 1;
  CHECK(exdyna_rebalance({0, 0, 1}, {0, 30}, how) == List{0, 0, 1});  // of tiny n: empty ones
  CHECK(exdyna_rebalance({0, 8}, {30}, how) == List{0, 8});
}

TEST_CASE("Rebalancing keeps the blocks, their order and the fewest of a partition") {
  test::Generator generator(17);
  for (const int ranks : {1, 2, 3, 7, 12, 64}) {
    const auto size = static_cast<std::size_t>(ranks);
    List partitions = exdyna_partition(1024, ranks);
    const std::int64_t fewest = std::max(std::int64_t{1}, 1024 / (4 * std::int64_t{ranks}));
    for (int iteration = 0; iteration < 500; ++iteration) {
      std::vector<double> selected(size);
      for (double& count : selected) count = static_cast<double>(test::below(generator, 1000));
      const List before = partitions;
      partitions = exdyna_rebalance(std::move(partitions), std::move(selected),
                                    {.min_blk = fewest, .share = 1.0 / 1024});
      REQUIRE(partitions.size() == size + 1);
      CHECK(partitions.front() == 0);
      CHECK(partitions.back() == 1024);
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(partitions[i + 1] - partitions[i] >= fewest);
        CHECK(std::abs(partitions[i] - before[i]) <= 1);
      }
    }
  }
}

TEST_CASE("Algorithm 5 raises the threshold fast, slowly, or lowers it") {
  CHECK(exdyna_scaling(111, 100, 1.1, 0.005) == test::approx(1.005));
  CHECK(exdyna_scaling(109, 100, 1.1, 0.005) == test::approx(1.00125));
  CHECK(exdyna_scaling(100, 100, 1.1, 0.005) == test::approx(1.00125));
  CHECK(exdyna_scaling(91, 100, 1.1, 0.005) == test::approx(1.00125));
  CHECK(exdyna_scaling(90, 100, 1.1, 0.005) == test::approx(0.995));
  CHECK(exdyna_scaling(0, 100, 1.1, 0.005) == test::approx(0.995));
  CHECK(exdyna_scaling(0, 0, 1.1, 0.005) == 1);
}

TEST_CASE("exdyna's ranks share out the space: each selects in its own part, together in all") {
  for (const GradientSpace space : {GradientSpace{9999, 1}, GradientSpace{9999, 4}}) {
    const SparseVector accumulated =
        test::filled(space.coordinates(), [](std::int64_t i) { return i % 10 == 0 ? 2 : 1; });
    for (const int ranks : {1, 2, 3, 7, 12, 64}) {
      SparsifierRanks exdyna(
          exdyna_sparsifier(),
          {.space = space, .k = 1000, .ranks = ranks, .options = {{"threshold", 1.5}}});
      for (const int iteration : {1, 2, 100}) {
        std::vector<SparseVector> parts(static_cast<std::size_t>(ranks));
        std::int64_t compared = 0;
        std::int64_t compacted = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const Selection selection = exdyna.select(accumulated, iteration, rank);
          parts[exdyna_allocation(ranks, rank, iteration)] = selection.selected;
          compared += selection.work.compared;
          compacted += selection.work.prefix_summed;
          CHECK(selection.work.scanned + selection.work.sorted + selection.work.hashed == 0);
        }
        CHECK(compared == space.components);
        CHECK(compacted == space.components);
        // In the order of the partitions they follow one another.
        CHECK(entries_of(concatenate(parts)) == test::at_least(entries_of(accumulated), 1.5F));
      }
    }
  }
}

TEST_CASE("exdyna starts warm: each rank with the k-th largest magnitude of its own") {
  const auto accumulated = [](double scale) {
    return test::filled(100, [&](std::int64_t i) { return scale * static_cast<double>(i + 1); });
  };
  SparsifierRanks exdyna(exdyna_sparsifier(),
                         {.space = {.components = 100, .granule = 1}, .k = 20, .ranks = 2});
  CHECK(size_of(exdyna.select(accumulated(1), 1, 0)) == 20);  // the second half has them all
  CHECK(size_of(exdyna.select(accumulated(7), 1, 1)) == 0);
  CHECK(size_of(exdyna.select(accumulated(7), 2, 1)) == 20);  // its own threshold, and kept
  CHECK(size_of(exdyna.select(accumulated(1000), 3, 0)) == 50);
  // With less than k there is still a threshold that can be scaled.
  SparsifierRanks sparse(exdyna_sparsifier(),
                         {.space = {.components = 100, .granule = 1}, .k = 20});
  const SparseVector few = SparseVector::checked({{1, 0.0F}, {5, 2.0F}, {7, -0.5F}});
  CHECK(size_of(sparse.select(SparseVector(), 1)) == 0);
  CHECK(size_of(sparse.select(few, 2)) == 2);
  sparse.observe(Numbers({1000}), 2);
  CHECK(size_of(sparse.select(few, 3)) == 1);
}

TEST_CASE("exdyna moves the partitions of all ranks as in the example of its header") {
  // 8 blocks of 32 and two partitions; 14 large values in components 0..13, 2 in the last block.
  test::Entries entries;
  for (std::uint32_t i = 0; i < 14; ++i) entries.push_back({i, 1.0F});
  entries.push_back({96, 1.0F});
  entries.push_back({254, 1.0F});
  const SparseVector accumulated = SparseVector::checked(entries);
  SparsifierRanks exdyna(exdyna_sparsifier(),
                         {.space = {.components = 256, .granule = 1},
                          .k = 16,
                          .ranks = 2,
                          .options = {{"blocks", std::int64_t{8}}, {"threshold", 0.5}}});
  const std::vector<SparseVector> both(2, accumulated);
  CHECK(iterate(exdyna, both, 1) == List{1, 15});
  const Selection moved = exdyna.select(accumulated, 2, 0);  // partition 0, now 3 blocks
  CHECK(moved.work.compared == 96);
  CHECK(size_of(moved) == 14);
  CHECK(exdyna.select(accumulated, 2, 1).work.compared == 160);
}

TEST_CASE("exdyna's ranks compute new partitions once, wherever the counts came from") {
  constexpr int kRanks = 12;
  SparsifierRanks exdyna(
      exdyna_sparsifier(),
      {.space = {.components = 100000, .granule = 1}, .k = 100, .ranks = kRanks});
  CHECK(exdyna.computed() == 1);
  exdyna.clear_shared();
  List counts(kRanks, 5);
  counts[3] = 50;
  exdyna.observe(Numbers(counts), 1);
  CHECK(exdyna.computed() == 2);
  exdyna.clear_shared();
  exdyna.observe(Numbers(counts), 2);  // the same counts in another iteration
  CHECK(exdyna.computed() == 3);
}

TEST_CASE("exdyna's count comes within 10% of k and stays there, and its parts become even") {
  // Layers as long as a partition, every other one with values that are twice as large.
  constexpr int kRanks = 16;
  constexpr std::int64_t kCoordinates = 40000;
  constexpr std::int64_t kWanted = 2000;
  std::vector<SparseVector> accumulated;
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    accumulated.push_back(test::filled(kCoordinates, [&](std::int64_t i) {
      const bool large = i * kRanks / kCoordinates % 2 == 0;
      return test::stretched_value(rank + 50, i, 1) * (large ? 2 : 1);
    }));
  }
  for (const double start : {0.0, 0.5}) {  // warm, and with a threshold that is far too low
    CAPTURE(start);
    SparsifierRanks exdyna(exdyna_sparsifier(),
                           {.space = {.components = kCoordinates, .granule = 1},
                            .k = kWanted,
                            .ranks = kRanks,
                            .options = {{"threshold", start}}});
    // Ranks differ, so means over a cycle of the allocation are looked at.
    double ratio = 0;
    double count = 0;
    for (int iteration = 1; iteration <= 1600; ++iteration) {
      const List counts = iterate(exdyna, accumulated, iteration);
      ratio += traffic_ratio(counts) / kRanks;
      count += static_cast<double>(total(counts)) / kWanted / kRanks;
      if (iteration % kRanks != 0) continue;
      CAPTURE(iteration);
      if (start == 0 && iteration == kRanks) CHECK(ratio > 1.5);
      if (iteration > 1000) {
        CHECK(count > 0.9);
        CHECK(count < 1.1);
        CHECK(ratio < 1.3);  // 125 ± 11 a partition: 1.17 where they are even
      }
      ratio = 0;
      count = 0;
    }
  }
}

TEST_CASE("Algorithm 3 comes to a halt where a partition within the band lies between the others") {
  // Blocks move only between a crowded and a sparse neighbour, so not through an average one.
  const Rebalancing how{.imbalance = 1.05, .min_blk = 1, .share = 1.0 / 12};
  CHECK(exdyna_rebalance({0, 4, 8, 12}, {20, 10, 0}, how) == List{0, 4, 8, 12});
  CHECK(exdyna_rebalance({0, 4, 8, 12}, {20, 0, 10}, how) == List{0, 3, 8, 12});
}

}  // namespace thinwire::algorithms
