#include "algorithms/sparsifiers/gaussian.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

constexpr GradientSpace kGaussianSpace{.components = 200000, .granule = 1};

double share_of_k(const Selection& selection, std::int64_t k) {
  return static_cast<double>(size_of(selection)) / static_cast<double>(k);
}

}  // namespace

TEST_CASE("The two-sided Gaussian quantile is the one of the tables") {
  struct Known {
    double density;
    double quantile;
  };
  for (const Known& known : {Known{1, 0}, Known{0.5, 0.6744897501960817},
                             Known{0.31731050786291415, 1}, Known{0.1, 1.6448536269514722},
                             Known{0.05, 1.959963984540054}, Known{0.01, 2.5758293035489004},
                             Known{0.001, 3.2905267314918945}, Known{1e-6, 4.891638475698945}}) {
    CAPTURE(known.density);
    CHECK(two_sided_quantile(known.density) == test::approx(known.quantile).epsilon(1e-11));
  }
  CHECK(two_sided_quantile(0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("gaussian's threshold is mean + deviation * z over all n components") {
  // Of n = 1000 components 400 are held, each entry for 4. In components the sum is 4·50·(3 - 1)
  // = 400 and the sum of squares 4·50·(9 + 1) = 2000, so the mean is 0.4 and the variance 1.84.
  const GradientSpace space{.components = 1000, .granule = 4};
  const SparseVector accumulated =
      test::filled(100, [](std::int64_t i) { return i % 2 == 0 ? 3 : -1; });
  const auto selected = [&](std::int64_t k) {
    SparsifierRanks ranks(gaussian_sparsifier(), {.space = space, .k = k});
    return size_of(ranks.select(accumulated));
  };
  // 3 is reached up to z = 1.9167, that is from a density of 0.0553 on; 1 up to z = 0.4423, 0.658.
  CHECK(selected(52) == 0);
  CHECK(selected(60) == 50);
  CHECK(selected(656) == 50);
  CHECK(selected(660) == 100);
}

TEST_CASE("gaussian selects k of truly Gaussian components within a few percent") {
  const SparseVector accumulated = test::filled(
      kGaussianSpace.components, [](std::int64_t i) { return 0.01 * test::gaussian_value(3, i); });
  for (const std::int64_t k : {2000, 20000, 100000}) {
    CAPTURE(k);
    SparsifierRanks ranks(gaussian_sparsifier(), {.space = kGaussianSpace, .k = k});
    const Selection selection = ranks.select(accumulated);
    CHECK(share_of_k(selection, k) == test::approx(1).epsilon(0.04));
    const Entries top = test::top(entries_of(accumulated), size_of(selection));
    CHECK(entries_of(selection.selected) == top);  // a threshold: the largest ones
    CHECK(test::operator==
          (selection.work, SelectionWork{.scanned = 2 * kGaussianSpace.components,
                                         .compared = kGaussianSpace.components,
                                         .prefix_summed = kGaussianSpace.components}));
  }
}

TEST_CASE("gaussian's misfit on Laplace components is the one that can be calculated") {
  // Laplace of scale 1 has the deviation sqrt(2): the share above sqrt(2) z is exp(-sqrt(2) z).
  const SparseVector accumulated = test::filled(
      kGaussianSpace.components, [](std::int64_t i) { return test::stretched_value(4, i, 1); });
  for (const double density : {0.001, 0.01, 0.1}) {
    const auto k =
        static_cast<std::int64_t>(density * static_cast<double>(kGaussianSpace.components));
    SparsifierRanks ranks(gaussian_sparsifier(), {.space = kGaussianSpace, .k = k});
    const double expected = std::exp(-std::sqrt(2.0) * two_sided_quantile(density)) / density;
    CHECK(share_of_k(ranks.select(accumulated), k) == test::approx(expected).epsilon(0.05));
  }
}

TEST_CASE("gaussian selects far too few where few large components make the deviation") {
  // 1 in 1000 components is a hundred times as large as the others.
  const auto value = [](std::int64_t i) {
    return test::gaussian_value(5, i) * (i % 1000 == 0 ? 100 : 1);
  };
  const SparseVector accumulated = test::filled(kGaussianSpace.components, value);
  SparsifierRanks ranks(gaussian_sparsifier(), {.space = kGaussianSpace, .k = 2000});
  CHECK(share_of_k(ranks.select(accumulated), 2000) < 0.15);
}

TEST_CASE("gaussian's correction reaches the band on stretched exponential components") {
  for (const double shape : {0.5, 0.7, 1.0, 2.0}) {
    const SparseVector accumulated = test::filled(kGaussianSpace.components, [&](std::int64_t i) {
      return test::stretched_value(6, i, shape);
    });
    for (const std::int64_t k : {200, 2000, 20000}) {
      CAPTURE(shape);
      CAPTURE(k);
      SparsifierRanks plain(gaussian_sparsifier(), {.space = kGaussianSpace, .k = k});
      SparsifierRanks corrected(gaussian_sparsifier(),
                                {.space = kGaussianSpace,
                                 .k = k,
                                 .options = {{"corrected", true}, {"rounds", std::int64_t{50}}}});
      const double before = share_of_k(plain.select(accumulated), k);
      const Selection selection = corrected.select(accumulated);
      const double after = share_of_k(selection, k);
      CHECK(after >= 0.75);
      CHECK(after <= 1.25);
      const bool was_inside = before >= 0.75 && before <= 1.25;
      CHECK((selection.work.compared == kGaussianSpace.components) == was_inside);
    }
  }
}

TEST_CASE("gaussian's correction moves the threshold by its factor, so often and no more") {
  // Magnitudes 1.3^0 .. 1.3^39, about as many on either side: each division by 1.3 adds two.
  const SparseVector accumulated = test::filled(80, [](std::int64_t i) {
    const std::int64_t step = i / 2;
    const double magnitude = 1.001 * std::pow(1.3, static_cast<double>(step));
    return i % 2 == 0 ? magnitude : -magnitude;
  });
  const GradientSpace space{.components = 80, .granule = 1};
  const auto selected = [&](std::int64_t rounds) {
    SparsifierRanks ranks(gaussian_sparsifier(),
                          {.space = space,
                           .k = 40,
                           .options = {{"corrected", true}, {"rounds", rounds}, {"factor", 1.3}}});
    return ranks.select(accumulated);
  };
  const std::int64_t first = size_of(selected(0));
  REQUIRE(first < 26);
  CHECK(selected(0).work.compared == 80);
  CHECK(size_of(selected(1)) == first + 2);
  CHECK(selected(1).work.compared == 2 * 80);
  const std::int64_t needed = (30 - first + 1) / 2;  // until 3k/4 = 30 are selected
  CHECK(size_of(selected(1000)) == first + 2 * needed);
  CHECK(selected(1000).work.compared == (1 + needed) * 80);
}

}  // namespace thinwire::algorithms
