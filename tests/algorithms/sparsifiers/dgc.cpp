#include "algorithms/sparsifiers/dgc.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

/// Different magnitudes at all coordinates, in no order.
SparseVector shuffled(std::int64_t count) {
  return test::filled(count, [](std::int64_t i) { return test::stretched_value(8, i, 1); });
}

}  // namespace

TEST_CASE("dgc selects the largest ones, about k of them and exactly k on average") {
  // With r the rank of the threshold in the sample and q = r/k, the count is negative binomial: its
  // mean is k and its deviation sqrt(r (1 - q)) / q.
  struct Given {
    std::int64_t n;
    std::int64_t k;
    double sample;
    double r;
  };
  constexpr int kSeeds = 400;
  for (const Given& given : {Given{20000, 400, 0.05, 20}, Given{20000, 1000, 0.01, 10},
                             Given{20000, 50, 0.01, 2}, Given{2000, 200, 0.5, 100}}) {
    const std::int64_t n = given.n;
    const std::int64_t k = given.k;
    const double sample = given.sample;
    const double r = given.r;
    const SparseVector accumulated = shuffled(n);
    const Entries sorted = test::by_magnitude(entries_of(accumulated));
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SparsifierRanks ranks(dgc_sparsifier(), {.space = {.components = n, .granule = 1},
                                               .k = k,
                                               .options = {{"sample", sample}},
                                               .seed = seed});
      const Selection selection = ranks.select(accumulated);
      const auto count = static_cast<std::size_t>(size_of(selection));
      const float threshold = std::abs(sorted[count - 1].value);
      REQUIRE(entries_of(selection.selected) == test::at_least(entries_of(accumulated), threshold));
      sum += static_cast<double>(count);
      squares += static_cast<double>(count) * static_cast<double>(count);
    }
    CAPTURE(k);
    CAPTURE(sample);
    const double q = r / static_cast<double>(k);
    const double mean = sum / kSeeds;
    const double deviation = std::sqrt(squares / kSeeds - mean * mean);
    const double expected = std::sqrt(r * (1 - q)) / q;
    CHECK(std::abs(mean - static_cast<double>(k)) < 4 * expected / std::sqrt(kSeeds));
    CHECK(deviation == test::approx(expected).epsilon(0.2));
  }
}

TEST_CASE("dgc samples alike where little is held: zeros are part of the sample") {
  // The k largest of n are held, and nothing else: a sample of what is held alone would do worse.
  constexpr std::int64_t kHeld = 2000;
  const SparseVector accumulated = shuffled(kHeld);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SparsifierRanks ranks(dgc_sparsifier(), {.space = {.components = 1'000'000, .granule = 1},
                                             .k = 500,
                                             .options = {{"sample", 0.04}},
                                             .seed = seed});
    const Selection selection = ranks.select(accumulated);
    sum += static_cast<double>(size_of(selection));
    CHECK(selection.work.sampled == 40000);
    CHECK(selection.work.sorted == 40000);
    CHECK(selection.work.compared == 1'000'000);
    CHECK(selection.work.prefix_summed == 1'000'000);
  }
  // r = 20, q = 0.04: 500 ± 110, the mean of 200 ± 7.8.
  CHECK(std::abs(sum / 200 - 500) < 4 * 7.8);
}

TEST_CASE("dgc takes a sample that can hold the rank, whole where k is small") {
  const auto work = [](std::int64_t k, double sample, std::int64_t granule) {
    SparsifierRanks ranks(dgc_sparsifier(), {.space = {.components = 10000, .granule = granule},
                                             .k = k,
                                             .options = {{"sample", sample}}});
    return ranks.select(SparseVector()).work;
  };
  CHECK(work(100, 0.01, 1).sorted == 200);    // two above the threshold instead of one
  CHECK(work(1000, 0.01, 1).sorted == 100);   // 1%
  CHECK(work(1000, 0.01, 10).sorted == 200);  // 100 coordinates
  CHECK(work(2, 0.01, 1).sorted == 10000);
  CHECK(work(1, 0.01, 1).sorted == 10000);
  CHECK_THROWS_WITH(work(1000, 5.0, 1), "option 'sample' must be at most 1");
  CHECK(work(0, 0.01, 1).sorted == 0);
  CHECK(work(100, 0.01, 1).compared == 10000);
}

TEST_CASE("dgc with a sample of everything selects exactly the top k") {
  const SparseVector accumulated = shuffled(500);
  for (const std::int64_t k : {1, 2, 37, 500}) {
    SparsifierRanks ranks(
        dgc_sparsifier(),
        {.space = {.components = 1000, .granule = 1}, .k = k, .options = {{"sample", 1.0}}});
    CHECK(entries_of(ranks.select(accumulated).selected) == test::top(entries_of(accumulated), k));
  }
}

TEST_CASE("dgc draws anew for each rank, iteration and seed") {
  const SparseVector accumulated = shuffled(20000);
  const auto count = [&](std::uint64_t seed, int rank, int iteration) {
    SparsifierRanks ranks(
        dgc_sparsifier(),
        {.space = {.components = 20000, .granule = 1}, .k = 1000, .ranks = 4, .seed = seed});
    return size_of(ranks.select(accumulated, iteration, rank));
  };
  CHECK(count(1, 0, 1) == count(1, 0, 1));
  CHECK(count(1, 0, 1) != count(1, 1, 1));
  CHECK(count(1, 0, 1) != count(1, 0, 2));
  CHECK(count(1, 0, 1) != count(2, 0, 1));
}

TEST_CASE("dgc selects exactly among the selected where they are far too many, when asked") {
  const SparseVector accumulated = shuffled(20000);
  int resampled = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const SparsifierRanks::Settings settings{
        .space = {.components = 40000, .granule = 2}, .k = 2000, .seed = seed};
    SparsifierRanks::Settings exact = settings;
    exact.options = {{"resample", true}};
    SparsifierRanks plain(dgc_sparsifier(), settings);
    SparsifierRanks resampling(dgc_sparsifier(), exact);
    const Selection before = plain.select(accumulated);
    const Selection after = resampling.select(accumulated);
    if (size_of(before) > 1300) {
      ++resampled;
      CHECK(entries_of(after.selected) == test::top(entries_of(accumulated), 1000));
      CHECK(after.work.sorted == before.work.sorted + 2 * size_of(before));
    } else {
      CHECK(entries_of(after.selected) == entries_of(before.selected));
      CHECK(after.work.sorted == before.work.sorted);
    }
  }
  CHECK(resampled > 2);
  CHECK(resampled < 25);
}

}  // namespace thinwire::algorithms
