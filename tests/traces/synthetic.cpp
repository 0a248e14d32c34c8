#include "traces/synthetic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::traces {

using test::contains;
using test::entries_of;
using test::error_of;

namespace {

using Coordinates = std::set<std::uint32_t>;

Coordinates selected(const SyntheticSource& source, int rank, std::int64_t k, int iteration = 1) {
  Coordinates coordinates;
  const SparseVector top = select_largest(source.sparse(Rank(rank), iteration), k);
  for (const Entry& entry : top.entries()) coordinates.insert(entry.coordinate);
  return coordinates;
}

/// How many ranks select each coordinate.
std::map<std::uint32_t, int> popularity(const SyntheticSource& source, int ranks, std::int64_t k,
                                        int iteration = 1) {
  std::map<std::uint32_t, int> selections;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::uint32_t coordinate : selected(source, rank, k, iteration)) {
      ++selections[coordinate];
    }
  }
  return selections;
}

std::int64_t selected_by(const std::map<std::uint32_t, int>& selections, int ranks) {
  return std::count_if(selections.begin(), selections.end(),
                       [&](const auto& one) { return one.second == ranks; });
}

/// Share of the coordinates of rank 3 that are others in the next iteration.
double moved(const SyntheticSource& source, std::int64_t k) {
  const Coordinates before = selected(source, 3, k, 1);
  const Coordinates after = selected(source, 3, k, 2);
  const auto gone = std::count_if(before.begin(), before.end(),
                                  [&](std::uint32_t c) { return after.count(c) == 0; });
  return static_cast<double>(gone) / static_cast<double>(before.size());
}

std::string refusal(const SyntheticSettings& settings) {
  return error_of<InputError>([&] { const SyntheticSource source(settings); });
}

constexpr GradientSpace kSpace{.components = 100000, .granule = 1};

}  // namespace

TEST_CASE("Every synthetic gradient is in order and finite and has exactly k large values") {
  for (const std::int64_t granule : {1, 8}) {
    for (const double skew : {0.0, 2.0}) {
      for (const double overlap : {0.0, 0.3, 1.0}) {
        for (const std::int64_t carried : {1, 2, 3, 7, 100, 1000, 9999}) {
          CAPTURE(granule);
          CAPTURE(skew);
          CAPTURE(overlap);
          CAPTURE(carried);
          const GradientSpace space{.components = 10000 * granule + granule - 1,
                                    .granule = granule};
          const std::int64_t k = carried * granule;
          const SyntheticSource source({.ranks = 8,
                                        .space = space,
                                        .k = k,
                                        .overlap = overlap,
                                        .skew = skew,
                                        .scale_drift = 0.5});
          for (const int rank : {0, 3, 7}) {
            const SparseVector gradient = source.sparse(Rank(rank), 2);
            CHECK_NOTHROW(static_cast<void>(SparseVector::checked(entries_of(gradient))));
            CHECK(gradient.entries().back().coordinate < space.coordinates());
            const float kth = kth_magnitude(gradient, carried);
            CHECK(select_at_least(gradient, kth).size() == static_cast<std::size_t>(carried));
            CHECK(std::cmp_equal(gradient.size(),
                                 std::min<std::int64_t>(10000, carried + carried / 4)));
          }
        }
      }
    }
  }
}

TEST_CASE("Without overlap selections are disjoint where there is room for all ranks") {
  for (const double skew : {0.0, 1.0, 5.0}) {
    for (const int ranks : {1, 2, 7, 64}) {
      CAPTURE(skew);
      CAPTURE(ranks);
      const std::int64_t k = kSpace.components * 4 / 5 / ranks;  // n / 1.25 k is P
      const SyntheticSource source(
          {.ranks = ranks, .space = kSpace, .k = k, .overlap = 0, .skew = skew});
      const auto selections = popularity(source, ranks, k);
      CHECK(selected_by(selections, 1) == k * ranks);
      CHECK(std::cmp_equal(selections.size(), k * ranks));
    }
  }
}

TEST_CASE("With more ranks than room the coordinates of a stratum are selected equally often") {
  const int ranks = 50;
  const std::int64_t k = 10000;  // strata of 8 coordinates, give or take one
  const SyntheticSource source({.ranks = ranks, .space = kSpace, .k = k, .overlap = 0});
  const auto selections = popularity(source, ranks, k);
  CHECK(selections.size() > 79900);
  CHECK(selections.size() < 80100);
  CHECK(std::all_of(selections.begin(), selections.end(), [](const auto& one) {
    return one.second >= 50 / 9 && one.second <= 50 / 7 + 1;
  }));
}

TEST_CASE("With full overlap all ranks select the same") {
  for (const double skew : {0.0, 1.0}) {
    const std::int64_t k = 500;
    const SyntheticSource source(
        {.ranks = 16, .space = kSpace, .k = k, .overlap = 1, .skew = skew});
    const auto selections = popularity(source, 16, k);
    CHECK(std::cmp_equal(selections.size(), k));
    CHECK(selected_by(selections, 16) == k);
    // The same places and not the same values.
    CHECK(entries_of(source.sparse(Rank(0), 1)) != entries_of(source.sparse(Rank(1), 1)));
  }
}

TEST_CASE("Between the extremes the asked share of the selection is common to all ranks") {
  const std::int64_t k = 1000;
  for (const double overlap : {0.1, 0.25, 0.5, 0.73, 0.999}) {
    CAPTURE(overlap);
    const SyntheticSource source({.ranks = 16, .space = kSpace, .k = k, .overlap = overlap});
    const auto selections = popularity(source, 16, k);
    const auto common = static_cast<std::int64_t>(std::floor(overlap * 1000 + 1e-6));
    CHECK(selected_by(selections, 16) == common);
    CHECK(selected_by(selections, 1) == 16 * (k - common));
  }
}

TEST_CASE("Skew crowds selections at the beginning of the space") {
  const std::int64_t k = 1000;
  const auto share_in_first_tenth = [&](double skew) {
    const SyntheticSource source({.ranks = 8, .space = kSpace, .k = k, .skew = skew});
    std::int64_t count = 0;
    for (const auto& [coordinate, ranks] : popularity(source, 8, k)) {
      if (coordinate < kSpace.components / 10) count += ranks;
    }
    return static_cast<double>(count) / static_cast<double>(8 * k);
  };
  // Stratum j ends at (j/k)^(1+s): the first tenth holds 10^(-1/(1+s)) of them.
  for (const double skew : {0.0, 0.5, 1.0, 3.0}) {
    CHECK(share_in_first_tenth(skew) ==
          test::approx(std::pow(10.0, -1 / (1 + skew))).epsilon(0.03));
  }
}

TEST_CASE("Drift says which share of the coordinates moves in an iteration") {
  const std::int64_t k = 1000;
  for (const double overlap : {0.0, 1.0}) {
    CAPTURE(overlap);
    const auto moved_at = [&](double drift) {
      return moved(SyntheticSource(
                       {.ranks = 64, .space = kSpace, .k = k, .overlap = overlap, .drift = drift}),
                   k);
    };
    CHECK(moved_at(0) == 0);
    CHECK(moved_at(0.3) == test::approx(0.3).epsilon(0.2));
    CHECK(moved_at(1) > 0.95);  // few come back to the place where they were
  }
}

TEST_CASE("The same settings give the same gradients in any order and another seed others") {
  const SyntheticSettings settings{
      .ranks = 4, .space = kSpace, .k = 100, .seed = 7, .overlap = 0.5, .drift = 0.5};
  SyntheticSettings other = settings;
  other.seed = 8;
  const SyntheticSource a(settings);
  const SyntheticSource b(settings);
  const SyntheticSource c(other);
  const auto a11 = entries_of(a.sparse(Rank(1), 1));
  const auto a35 = entries_of(a.sparse(Rank(3), 5));
  CHECK(entries_of(b.sparse(Rank(3), 5)) == a35);
  CHECK(entries_of(b.sparse(Rank(1), 1)) == a11);
  CHECK(entries_of(a.sparse(Rank(1), 1)) == a11);
  CHECK(entries_of(c.sparse(Rank(1), 1)) != a11);
  CHECK(selected(a, 1, 100) != selected(c, 1, 100));
  const DenseBlock da = a.dense(Rank(2), 3);
  const DenseBlock db = b.dense(Rank(2), 3);
  CHECK(std::ranges::equal(da.values(), db.values()));
}

TEST_CASE("A dense synthetic gradient holds the sparse one and small values elsewhere") {
  const std::int64_t k = 100;
  const SyntheticSource source({.ranks = 4, .space = kSpace, .k = k});
  const SparseVector sparse = source.sparse(Rank(2), 3);
  const DenseBlock dense = source.dense(Rank(2), 3);
  CHECK(dense.first() == 0);
  REQUIRE(std::cmp_equal(dense.size(), kSpace.coordinates()));
  std::vector<float> rest(dense.values().begin(), dense.values().end());
  bool held = true;
  for (const Entry& entry : sparse.entries()) {
    held = held && rest[entry.coordinate] == entry.value;
    rest[entry.coordinate] = 0;
  }
  CHECK(held);
  CHECK(std::all_of(rest.begin(), rest.end(), [](float v) { return std::abs(v) <= 0.25F; }));
  CHECK(source.space() == kSpace);
}

TEST_CASE("The tail says how large values grow and the scale drifts from iteration to iteration") {
  const std::int64_t k = 2000;
  const auto mean_log = [&](const SyntheticSettings& settings, int iteration) {
    const SyntheticSource source(settings);
    const SparseVector top = select_largest(source.sparse(Rank(0), iteration), k);
    double sum = 0;
    for (const Entry& entry : top.entries()) sum += std::log(std::abs(entry.value));
    return sum / static_cast<double>(k);
  };
  // Magnitudes are exp(tail E): their logarithms have the mean `tail`.
  for (const double tail : {0.0, 0.25, 1.0}) {
    CHECK(mean_log({.ranks = 1, .space = kSpace, .k = k, .tail = tail}, 1) ==
          test::approx(tail).epsilon(0.1).scale(1e-4));
  }
  double squares = 0;
  for (int iteration = 1; iteration <= 200; ++iteration) {
    const double scale = mean_log(
        {.ranks = 1, .space = {10000, 1}, .k = k, .tail = 0, .scale_drift = 0.5}, iteration);
    squares += scale * scale;
  }
  CHECK(std::sqrt(squares / 200) == test::approx(0.5).epsilon(0.15));
}

TEST_CASE("Nothing and everything can be selected") {
  const SyntheticSource nothing({.ranks = 3, .space = kSpace, .k = 0});
  CHECK(nothing.sparse(Rank(2), 1).size() == 0);
  CHECK(nothing.dense(Rank(2), 1).size() == 100000);
  for (const double overlap : {0.0, 0.5, 1.0}) {
    const GradientSpace space{.components = 777, .granule = 1};
    const SyntheticSource everything(
        {.ranks = 3, .space = space, .k = 777, .overlap = overlap, .skew = 1});
    const SparseVector gradient = everything.sparse(Rank(2), 1);
    CHECK(gradient.size() == 777);
    CHECK(gradient.entries().back().coordinate == 776);
    CHECK(std::all_of(gradient.entries().begin(), gradient.entries().end(),
                      [](const Entry& entry) { return std::abs(entry.value) > 1.0F; }));
  }
}

TEST_CASE("Synthetic settings that cannot be met are refused by name") {
  const SyntheticSettings good{.ranks = 4, .space = kSpace, .k = 100};
  CHECK(refusal(good) == "(nothing was thrown)");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-0.1, 1.1, nan, infinity}) {
    SyntheticSettings settings = good;
    settings.overlap = bad;
    CHECK(contains(refusal(settings), "input.overlap is"));
    settings = good;
    settings.drift = bad;
    CHECK(contains(refusal(settings), "input.drift is"));
  }
  for (const double bad : {-0.1, nan, infinity}) {
    SyntheticSettings settings = good;
    settings.skew = bad;
    CHECK(contains(refusal(settings), "input.skew is"));
    settings = good;
    settings.tail = bad;
    CHECK(contains(refusal(settings), "input.tail is"));
    settings = good;
    settings.scale_drift = bad;
    CHECK(contains(refusal(settings), "input.scale_drift is"));
  }
  SyntheticSettings settings = good;
  settings.k = kSpace.components + 1;
  CHECK(contains(refusal(settings), "k = 100001 of n = 100000"));
  settings.k = -1;
  CHECK(contains(refusal(settings), "k = -1"));
}

}  // namespace thinwire::traces
