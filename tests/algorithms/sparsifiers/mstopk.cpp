#include "algorithms/sparsifiers/mstopk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

/// Different magnitudes at all coordinates, in no order.
SparseVector scattered(std::int64_t count) {
  return test::filled(count, [](std::int64_t i) { return test::stretched_value(8, i, 1); });
}

/// The paper's Algorithm 1 on a dense vector, up to the two sets: how many reach the upper
/// threshold, and how many are between the two.
struct Searched {
  std::int64_t certain = 0;
  std::int64_t candidates = 0;
};
Searched searched(const std::vector<double>& magnitudes, std::int64_t k, int samplings) {
  double mean = 0;
  double largest = 0;
  for (const double magnitude : magnitudes) {
    mean += magnitude / static_cast<double>(magnitudes.size());
    largest = std::max(largest, magnitude);
  }
  double left = 0;
  double right = 1;
  std::int64_t k1 = 0;
  auto k2 = static_cast<std::int64_t>(magnitudes.size());
  for (int i = 0; i < samplings; ++i) {
    const double ratio = left + (right - left) / 2;
    const double threshold = mean + ratio * (largest - mean);
    const std::int64_t count =
        std::ranges::count_if(magnitudes, [&](double m) { return m >= threshold; });
    if (count <= k) {
      right = ratio;
      k1 = std::max(k1, count);
    } else {
      left = ratio;
      k2 = std::min(k2, count);
    }
  }
  return {.certain = k1, .candidates = k2 - k1};
}

}  // namespace

TEST_CASE("mstopk bisects as the paper's algorithm does, and selects exactly k") {
  constexpr std::int64_t kSize = 3000;
  const SparseVector accumulated = scattered(kSize);
  const GradientSpace space{.components = kSize, .granule = 1};
  std::vector<double> magnitudes;
  for (const Entry& entry : accumulated.entries()) magnitudes.push_back(std::abs(entry.value));
  for (const std::int64_t k : {1, 2, 30, 299, 1000, 2999, 3000}) {
    for (const int samplings : {1, 3, 8, 30}) {
      CAPTURE(k);
      CAPTURE(samplings);
      const Searched expected = searched(magnitudes, k, samplings);
      const BisectedThresholds found = bisected_thresholds(accumulated, space, k, samplings);
      const Entries all = entries_of(accumulated);
      const auto certain = static_cast<std::int64_t>(test::at_least(all, found.upper).size());
      const auto reached = static_cast<std::int64_t>(test::at_least(all, found.lower).size());
      CHECK(certain == expected.certain);
      CHECK(reached - certain == expected.candidates);

      SparsifierRanks ranks(
          mstopk_sparsifier(),
          {.space = space, .k = k, .options = {{"samplings", std::int64_t{samplings}}}});
      const Selection selection = ranks.select(accumulated);
      CHECK(size_of(selection) == k);
      // All that are certain, and of the others consecutive ones.
      const Entries chosen = entries_of(selection.selected);
      std::vector<std::size_t> places;
      std::size_t candidate = 0;
      for (const Entry& entry : all) {
        const bool selected = std::ranges::find(chosen, entry) != chosen.end();
        if (std::abs(entry.value) >= found.upper) {
          CHECK(selected);
        } else if (std::abs(entry.value) >= found.lower) {
          if (selected) places.push_back(candidate);
          ++candidate;
        } else {
          CHECK_FALSE(selected);
        }
      }
      if (!places.empty()) CHECK(places.back() - places.front() + 1 == places.size());
    }
  }
}

TEST_CASE("With its 30 samplings mstopk selects what exact top-k selects") {
  const SparseVector accumulated = scattered(5000);
  for (const std::int64_t k : {5, 50, 500}) {
    SparsifierRanks ranks(mstopk_sparsifier(),
                          {.space = {.components = 5000, .granule = 1}, .k = k});
    CHECK(entries_of(ranks.select(accumulated).selected) == test::top(entries_of(accumulated), k));
  }
}

TEST_CASE("mstopk selects what is held where that is less than k, and starts runs anywhere") {
  constexpr GradientSpace kWide{.components = 1000, .granule = 1};
  const SparseVector few = scattered(20);
  SparsifierRanks ranks(mstopk_sparsifier(), {.space = kWide, .k = 50});
  CHECK(entries_of(ranks.select(few).selected) == entries_of(few));
  // Equal magnitudes: all are candidates, and the run's start is drawn.
  const SparseVector equal = test::filled(1000, [](std::int64_t) { return -2; });
  std::vector<std::uint32_t> starts;
  for (int iteration = 1; iteration <= 40; ++iteration) {
    const Entries run = entries_of(ranks.select(equal, iteration).selected);
    REQUIRE(run.size() == 50);
    CHECK(run.back().coordinate - run.front().coordinate == 49);
    starts.push_back(run.front().coordinate);
  }
  CHECK(std::ranges::min(starts) < 200);
  CHECK(std::ranges::max(starts) > 750);
}

TEST_CASE("mstopk's work is two scans, a comparison a sampling, each a call, and two compactions") {
  SparsifierRanks ranks(mstopk_sparsifier(), {.k = 10});
  const Selection selection = ranks.select(scattered(1000));
  CHECK(test::operator==
        (selection.work,
         SelectionWork{.scanned = 2000, .compared = 30'000, .prefix_summed = 2000, .retries = 29}));
  WorkPrices prices;
  prices.compare = {.call = Seconds(1e-5), .element = Seconds(1e-9)};
  CHECK(selection.work.cost(prices).value() == test::approx(30 * (1e-5 + 1000 * 1e-9)));
}

TEST_CASE("The worked example of mstopk's comment is right") {
  const SparseVector ten =
      test::filled(10, [](std::int64_t i) { return static_cast<double>(i) + 1; });
  SparsifierRanks ranks(mstopk_sparsifier(), {.space = {.components = 10, .granule = 1},
                                              .k = 3,
                                              .options = {{"samplings", std::int64_t{4}}}});
  CHECK(entries_of(ranks.select(ten).selected) == Entries{{7, 8}, {8, 9}, {9, 10}});
}

}  // namespace thinwire::algorithms
