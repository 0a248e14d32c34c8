// Blocks that have entries, exact and statistical. The oracles are a loop over the entries, and the
// exact gradients of the same profile.
#include "sim/core/gradient/nonzero_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/sparse.hpp"
#include "traces/profile_source.hpp"

namespace thinwire::inline gradient {

namespace {

std::vector<std::uint32_t> numbers_of(const std::vector<bool>& nonzero) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t block = 0; block < nonzero.size(); ++block) {
    if (nonzero[block]) numbers.push_back(block);
  }
  return numbers;
}

/// What is measured of the selections of some ranks.
struct Measured {
  double of_each = 0;  ///< non-zero blocks of a rank
  double of_any = 0;   ///< blocks that are non-zero on a rank
  double selected = 0;
  double entries = 0;  ///< in the parts of all ranks
  double united = 0;   ///< in the sum, of the blocks of eight aggregators
};

Measured measured(const traces::GradientSource& source, const traces::ProfileSettings& settings,
                  std::uint32_t width, const Buckets& buckets) {
  constexpr int kRanks = 12;
  constexpr std::uint32_t kAggregators = 8;
  const BlockSize size{.width = width,
                       .coordinates = static_cast<std::uint32_t>(settings.space.components)};
  Measured result;
  std::vector<bool> any(size.count());
  std::map<std::uint32_t, std::vector<SparseVector>> parts;
  for (int rank = 0; rank < kRanks; ++rank) {
    const SparseVector accumulated = source.sparse(Rank(rank), 1);
    const SparseVector selected = buckets.end > 0 ? select_largest_in(accumulated, buckets)
                                                  : select_largest(accumulated, settings.k);
    const std::vector<bool> nonzero = nonzero_blocks(selected, size);
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_aggregator;
    for (const std::uint32_t block : numbers_of(nonzero)) {
      any[block] = true;
      of_aggregator[block % kAggregators].push_back(block);
    }
    for (const auto& [aggregator, blocks] : of_aggregator) {
      parts[aggregator].push_back(
          in_blocks(selected, size, blocks, (size.count() + kAggregators - 1) / kAggregators));
      result.entries += static_cast<double>(parts[aggregator].back().size());
    }
    result.selected += static_cast<double>(selected.size());
    result.of_each += static_cast<double>(std::ranges::count(nonzero, true)) / kRanks;
  }
  result.of_any = static_cast<double>(std::ranges::count(any, true));
  std::vector<SparseVector> sums;
  for (const auto& [aggregator, vectors] : parts) sums.push_back(sum(vectors));
  result.united = static_cast<double>(joined_blocks(sums).size());
  return result;
}

/// Compares the two models.
void check_alike(double density, std::uint32_t width, const Buckets& of_buckets = {}) {
  const traces::Profile profile = test::small_profile(400'000);
  const auto k = static_cast<std::int64_t>(density * 400'000);
  const traces::ProfileSettings settings{
      .space = {.components = profile.components, .granule = 1}, .k = k, .seed = 5, .reach = 0};
  const traces::ExactProfileSource exact_source(profile, settings);
  const traces::StatisticalProfileSource statistical_source(profile, settings);
  Buckets buckets = of_buckets;
  if (buckets.end > 0) buckets.k = k;
  const Measured exact = measured(exact_source, settings, width, buckets);
  const Measured statistical = measured(statistical_source, settings, width, buckets);
  CAPTURE(density);
  CAPTURE(width);
  CAPTURE(buckets.width);
  CHECK(statistical.selected == exact.selected);
  CHECK(exact.entries == exact.selected);
  CHECK(statistical.entries == test::approx(statistical.selected).epsilon(0.02));
  // With 280 blocks, the mean of 12 ranks has a deviation of 1%.
  const bool rough = buckets.end > 0 || exact.of_each < 500;
  CHECK(statistical.of_each == test::approx(exact.of_each).epsilon(rough ? 0.04 : 0.02));
  CHECK(statistical.of_any == test::approx(exact.of_any).epsilon(0.02));
  CHECK(statistical.united == test::approx(exact.united).epsilon(buckets.end > 0 ? 0.03 : 0.02));
}

}  // namespace

TEST_CASE(
    "Blocks with entries are the ones that a loop over the entries finds, and hold all of them") {
  test::Generator generator(7);
  for (const std::uint32_t width : {1U, 3U, 64U, 1000U, 5000U}) {
    const SparseVector vector = test::random_vector(generator, 0, 5000, 300);
    const BlockSize size{.width = width, .coordinates = 5000};
    std::vector<bool> wanted(size.count());
    for (const Entry& entry : vector.entries()) wanted[entry.coordinate / width] = true;
    const std::vector<bool> nonzero = nonzero_blocks(vector, size);
    CHECK(nonzero == wanted);
    const std::vector<std::uint32_t> all = numbers_of(nonzero);
    std::vector<SparseVector> halves;
    for (const std::uint32_t parity : {0U, 1U}) {
      std::vector<std::uint32_t> blocks;
      for (const std::uint32_t block : all) {
        if (block % 2 == parity) blocks.push_back(block);
      }
      halves.push_back(in_blocks(vector, size, blocks, size.count()));
      for (const Entry& entry : halves.back().entries()) {
        CHECK(entry.coordinate / width % 2 == parity);
      }
    }
    CHECK(equal(joined_blocks(halves), vector));
  }
  const BlockSize size{.width = 10, .coordinates = 95};
  CHECK(nonzero_blocks({}, size) == std::vector<bool>(10));
  CHECK(in_blocks({}, size, {}, 1).size() == 0);
  CHECK(joined_blocks({}).size() == 0);
}

TEST_CASE("Statistical selections have as many blocks with entries as exact ones") {
  check_alike(0.001, 16);
  check_alike(0.001, 256);
  check_alike(0.01, 16);
  check_alike(0.01, 100);
  check_alike(0.01, 5000);
}

TEST_CASE("So have selections by buckets, of narrow cells and of wide ones") {
  check_alike(0.01, 64, {.width = 500, .end = 400'000});
  check_alike(0.01, 256, {.width = 30'000, .end = 400'000});
  check_alike(0.05, 16, {.width = 200, .end = 400'000});
  check_alike(0.01, 64, {.width = 16, .end = 400'000});  // most have no entry
}

TEST_CASE("Each bucket has its share of a statistical selection") {
  constexpr std::int64_t kWidth = 2000;
  const traces::Profile profile = test::small_profile(400'000);
  const traces::ProfileSettings settings{
      .space = {.components = profile.components, .granule = 1}, .k = 8000, .seed = 5};
  const traces::StatisticalProfileSource source(profile, settings);
  const SparseVector selected = select_largest_in(
      source.sparse(Rank(3), 1), {.width = kWidth, .end = profile.components, .k = settings.k});
  CHECK(selected.size() == 8000);
  std::vector<std::int64_t> cuts;
  for (std::int64_t cut = 0; cut <= profile.components; cut += kWidth) cuts.push_back(cut);
  const std::vector<std::uint32_t> positions = selected.positions_of(cuts);
  double squares = 0;
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    const double off = positions[i + 1] - positions[i] - 40.0;
    squares += off * off / static_cast<double>(positions.size() - 1);
  }
  // That of the largest of all would be 20 times as large: layers differ by a factor of four.
  CHECK(squares < 80);
}

TEST_CASE("Buckets that are selected as a whole have all of their coordinates") {
  const traces::Profile profile = test::small_profile();
  const traces::ProfileSettings settings{
      .space = {.components = profile.components, .granule = 1}, .k = 400, .seed = 5};
  const traces::StatisticalProfileSource source(profile, settings);
  const Buckets buckets{.width = 100, .end = profile.components, .k = profile.components};
  std::vector<SparseVector> all;
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(select_largest_in(source.sparse(Rank(rank), 1), buckets));
    CHECK(all.back().size() == static_cast<std::size_t>(profile.components));
  }
  CHECK(sum(all).size() == static_cast<std::size_t>(profile.components));
}

TEST_CASE("A random selection has as many blocks with entries as it draws") {
  constexpr std::uint32_t kEnd = 100'000;
  const BlockSize size{.width = 50, .coordinates = kEnd};
  const auto blocks_of = [&](std::uint64_t key, bool common) {
    const auto vector = SparseVector::from(statistical_draw(2000, kEnd, key, common));
    return nonzero_blocks(vector, size);
  };
  // 1 - (1 - 2000/100,000)^50
  const auto nonzero = static_cast<double>(std::ranges::count(blocks_of(1, false), true));
  CHECK(nonzero / size.count() == test::approx(0.6358).epsilon(0.04));
  CHECK(blocks_of(1, false) != blocks_of(2, false));
  CHECK(blocks_of(1, true) == blocks_of(2, true));
  // Ranks that draw the same coordinates have the sum of one of them.
  std::vector<std::uint32_t> blocks = numbers_of(blocks_of(1, true));
  std::vector<SparseVector> parts;
  for (const std::uint64_t key : {1, 2, 3}) {
    const auto vector = SparseVector::from(statistical_draw(2000, kEnd, key, true));
    parts.push_back(in_blocks(vector, size, blocks, size.count()));
  }
  CHECK(static_cast<double>(joined_blocks(std::array{sum(parts)}).size()) ==
        test::approx(2000).epsilon(0.04));
  const auto all = SparseVector::from(statistical_all(0, kEnd));
  CHECK(nonzero_blocks(all, size) == std::vector<bool>(size.count(), true));
}

}  // namespace thinwire::inline gradient
