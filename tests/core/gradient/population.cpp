#include "sim/core/gradient/population.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/sanitizers.hpp"

namespace thinwire::inline gradient {

namespace {

/// Coordinates of one class, each selected with the probability.
Population alike(std::uint32_t coordinates, double probability, std::uint32_t cell_width = 64,
                 const MagnitudeLaw& magnitudes = {}) {
  Population::Settings settings{.coordinates = coordinates,
                                .cell_width = cell_width,
                                .pieces = {},
                                .rates = {{-std::log1p(-probability)}},
                                .magnitudes = magnitudes};
  for (std::uint32_t cell = 0; cell * cell_width < coordinates; ++cell) {
    const std::uint32_t width = std::min(cell_width, coordinates - cell * cell_width);
    settings.pieces.push_back({cell, 0, {static_cast<float>(width)}});
  }
  return Population(std::move(settings));
}

/// As many coordinates of each class in each of a hundred cells, which share a region.
Population mixed(const std::vector<std::uint32_t>& each, const std::vector<double>& probabilities,
                 const MagnitudeLaw& magnitudes) {
  std::uint32_t width = 0;
  PopulationPiece piece;
  for (const std::uint32_t count : each) {
    width += count;
    piece.counts.push_back(static_cast<float>(count));
  }
  Population::Settings settings{.coordinates = 100 * width,
                                .cell_width = width,
                                .pieces = {},
                                .rates = {{}},
                                .magnitudes = magnitudes};
  for (const double p : probabilities) settings.rates[0].push_back(-std::log1p(-p));
  for (piece.cell = 0; piece.cell < 100; ++piece.cell) settings.pieces.push_back(piece);
  return Population(std::move(settings));
}

/// R's inverse, written down once more.
double ratio_of(const MagnitudeLaw& law, double share) {
  if (share > 1) return std::pow(share, -1 / law.below);
  return std::exp(law.scale * std::pow(std::log(1 / share), 1 / law.shape));
}

/// Magnitudes of the sums of what ranks select, coordinate by coordinate, largest first.
std::vector<double> drawn_sums(const std::vector<std::uint32_t>& each,
                               const std::vector<double>& probabilities, const MagnitudeLaw& law,
                               int ranks) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  double k = 0;
  for (std::size_t c = 0; c < each.size(); ++c) k += 100 * each[c] * probabilities[c];
  // Expected entries at a level, over k: by what a rank's draw is turned into a magnitude.
  const auto share_at = [&](double level) {
    double entries = 0;
    for (std::size_t c = 0; c < each.size(); ++c) {
      entries += 100 * each[c] * (1 - std::pow(1 - probabilities[c], level));
    }
    return entries / k;
  };
  std::vector<double> sums;
  for (std::size_t c = 0; c < each.size(); ++c) {
    const double rate = -std::log(1 - probabilities[c]);
    for (std::uint32_t i = 0; i < 100 * each[c]; ++i) {
      double sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const double level = -std::log(1 - uniform(random)) / rate;
        if (level > 1) continue;
        const double magnitude = ratio_of(law, share_at(level));
        sum += uniform(random) < 0.5 ? magnitude : -magnitude;
      }
      sums.push_back(std::abs(sum));
    }
  }
  std::ranges::sort(sums, std::greater<>());
  return sums;
}

}  // namespace

TEST_CASE("The law of magnitudes has the closed form that profiles give, and its inverse") {
  const MagnitudeLaw law{.shape = 1, .scale = 0.5, .below = 4, .most = 100};
  CHECK(law.share(1) == 1);
  CHECK(law.ratio(1) == 1);
  CHECK(law.share(2) == test::approx(0.25));  // x^-2
  CHECK(law.share(0.5) == test::approx(16));
  CHECK(law.share(0.1) == 100);
  CHECK(law.share(0) == 100);
  CHECK(law.ratio(1000) == test::approx(0.316228));  // 100^(-1/4)
  for (const MagnitudeLaw& other :
       {law, MagnitudeLaw{.shape = 0.7, .scale = 0.2, .below = 3, .most = 50},
        MagnitudeLaw{.shape = 1.6, .scale = 0.4, .below = 6, .most = 1000}}) {
    for (const double share : {1e-6, 0.01, 0.3, 0.999, 1.001, 7.0, 49.0}) {
      CAPTURE(share);
      CHECK(other.share(other.ratio(share)) == test::approx(share));
      CHECK(other.ratio(share) == test::approx(ratio_of(other, share)));
    }
  }
}

TEST_CASE("A union of coordinates of one class has m(1 - (1-p)^level) entries") {
  for (const double p : {1e-4, 0.01, 0.3}) {
    const Population population = alike(100'000, p);
    CHECK(population.present() == 100'000);
    for (const double level : {0.01, 0.5, 1.0, 2.0, 3.3, 16.0, 100.0, 5000.0}) {
      CAPTURE(p);
      CAPTURE(level);
      const double part = 1 - std::pow(1 - p, level);
      CHECK(population.united(level) == test::approx(1e5 * part).epsilon(1e-9));
      // Where the space is cut: interpolated between kept levels.
      CHECK(population.united(0, 100'000, level) == test::approx(1e5 * part).epsilon(3e-4));
      CHECK(population.united(12'345, 54'321, level) ==
            test::approx((54'321 - 12'345) * part).epsilon(3e-4));
    }
    CHECK(population.united(0) == 0);
    CHECK(population.united(0, 100'000, 0) == 0);
  }
}

TEST_CASE("The slope of a union is its derivative with respect to the level") {
  const double p = 0.02;
  const Population population = alike(64'000, p);
  for (const double level : {0.25, 1.0, 4.0, 20.0, 64.0}) {
    CAPTURE(level);
    const double step = 1e-4 * level;
    const auto united = [&](double at) { return 1 - std::pow(1 - p, at); };
    const double derivative = (united(level + step) - united(level - step)) / (2 * step);
    // Its level is rounded to the 32nd part of an octave.
    CHECK(population.slope(0, 64'000, level) == test::approx(64'000 * derivative).epsilon(0.02));
    CHECK(population.slope(1000, 9000, level) == test::approx(8000 * derivative).epsilon(0.02));
  }
}

TEST_CASE("The level of a number of entries and the number of entries of a level are inverse") {
  const Population population =
      mixed({5, 45, 450}, {0.5, 0.05, 0.001}, {.shape = 1, .scale = 0.2, .below = 4, .most = 90});
  for (const double level : {1e-3, 0.1, 0.77, 1.0, 3.0, 50.0, 900.0}) {
    CAPTURE(level);
    const double entries =
        100 * (5 * (1 - std::pow(0.5, level)) + 45 * (1 - std::pow(0.95, level)) +
               450 * (1 - std::pow(0.999, level)));
    CHECK(population.level_of(entries) == test::approx(level).epsilon(1e-3));
    CHECK(population.level_of(10'000, 30'000, entries * 0.4) == test::approx(level).epsilon(2e-3));
  }
  CHECK(population.level_of(0) == 0);
  CHECK(population.level_of(0, 100, 0) == 0);
  CHECK(population.united(population.level_of(50'000)) == test::approx(50'000));
  CHECK(population.level_of(0, 500, 600) >= 0x1p30);  // more than there are
}

TEST_CASE("The level of a number of entries in a part is the one that bisection finds") {
  const Population population =
      mixed({5, 45, 450}, {0.5, 0.05, 0.001}, {.shape = 1, .scale = 0.2, .below = 4, .most = 90});
  for (const double first : {0.0, 1.0, 777.5, 49'000.0}) {
    for (const double width : {1.0, 64.0, 640.0, 1000.0}) {
      const double all = population.united(first, first + width, 0x1p40);
      for (const double share : {1e-6, 0.01, 0.3, 0.9, 0.999}) {
        double low = 0;
        double high = 0x1p40;
        for (int step = 0; step < 200; ++step) {
          const double middle = low + (high - low) / 2;
          const double there = population.united(first, first + width, middle);
          (there < share * all ? low : high) = middle;
        }
        CAPTURE(first);
        CAPTURE(width);
        CAPTURE(share);
        CHECK(population.level_of(first, first + width, share * all) ==
              test::approx(high).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("The magnitude that a level stands for follows from its number of entries over k") {
  const MagnitudeLaw law{.shape = 0.8, .scale = 0.25, .below = 4, .most = 50};
  const Population population = mixed({5, 45, 450}, {0.5, 0.05, 0.012}, law);
  const double k = 100 * (5 * 0.5 + 45 * 0.05 + 450 * 0.012);
  double last = 1e9;
  for (const double level : {1e-3, 0.1, 0.77, 1.0, 3.0, 50.0}) {
    CAPTURE(level);
    const double entries =
        100 * (5 * (1 - std::pow(0.5, level)) + 45 * (1 - std::pow(0.95, level)) +
               450 * (1 - std::pow(0.988, level)));
    const double ratio = population.ratio_of_level(level);
    CHECK(ratio == test::approx(ratio_of(law, entries / k)).epsilon(1e-3));
    CHECK(population.level_of_ratio(ratio) == test::approx(level).epsilon(1e-6));
    CHECK(ratio < last);
    last = ratio;
  }
  CHECK(population.level_of_ratio(1e9) == 0);
  CHECK(population.level_of_ratio(0) >= 0x1p30);
}

TEST_CASE("One rank's magnitudes reach a ratio as often as their law says") {
  const MagnitudeLaw law{.shape = 0.8, .scale = 0.25, .below = 4, .most = 50};
  const Population population = mixed({5, 45, 450}, {0.5, 0.05, 0.012}, law);
  const double k = 100 * (5 * 0.5 + 45 * 0.05 + 450 * 0.012);
  for (const double ratio : {0.5, 1.0, 1.1, 1.3, 1.8, 2.5}) {
    CAPTURE(ratio);
    const double share =
        std::min(1.0, std::exp(-std::pow(std::log(std::max(1.0, ratio)) / 0.25, 0.8)));
    const double noise = 5 * std::sqrt(share * (1 - share) / 4096) + 1e-3;
    CHECK(std::abs(population.reaching(1, ratio).united.back() / k - share) < noise);
  }
  for (const double share : {0.9, 0.5, 0.1}) {
    CAPTURE(share);
    CHECK(population.ratio_reached_by(1, share * k) ==
          test::approx(ratio_of(law, share)).epsilon(0.03));
  }
}

TEST_CASE("Sums of several ranks reach a ratio as often as sums that are drawn one by one") {
  const MagnitudeLaw law{.shape = 0.9, .scale = 0.3, .below = 4, .most = 30};
  const std::uint32_t scale = test::kSanitized ? 4 : 16;
  std::vector<std::uint32_t> each;
  std::vector<double> probabilities;
  for (std::uint32_t c = 0; c < 24; ++c) {
    each.push_back(scale * (c + 1));
    probabilities.push_back(0.7 * std::pow(0.78, c));
  }
  const Population population = mixed(each, probabilities, law);
  for (const int ranks : {2, 5, 32, 150}) {
    const std::vector<double> sums = drawn_sums(each, probabilities, law, ranks);
    for (const double ratio : {0.9, 1.2, 2.0, 4.0, 8.0, 16.0}) {
      CAPTURE(ranks);
      CAPTURE(ratio);
      const auto reached = static_cast<double>(
          std::ranges::count_if(sums, [&](double sum) { return sum >= ratio; }));
      const double found = population.reaching(ranks, ratio).united.back();
      CHECK(std::abs(found - reached) < 0.04 * reached + 4 * std::sqrt(reached));
    }
    for (const std::size_t entries : {scale * 150U, scale * 600U}) {
      CAPTURE(ranks);
      CAPTURE(entries);
      CHECK(population.ratio_reached_by(ranks, static_cast<double>(entries)) ==
            test::approx(sums[entries - 1]).epsilon(0.05));
    }
  }
}

TEST_CASE("What exceeds a threshold is what a million magnitudes exceed it by") {
  const MagnitudeLaw law{.shape = 0.9, .scale = 0.2, .below = 4, .most = 50};
  const Population population = alike(100'000, 0.02, 64, law);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> magnitudes;
  constexpr int kDraws = 1'000'000;
  for (int i = 0; i < kDraws; ++i) {  // one in each millionth, so that there is little noise
    magnitudes.push_back(ratio_of(law, 50 * (i + uniform(random)) / kDraws));
  }
  for (const double from : {0.0, 0.2, 0.6, 1.0, 1.3, 2.0}) {
    CAPTURE(from);
    double excess = 0;
    double squares = 0;
    for (const double x : magnitudes) {
      if (x <= from) continue;
      excess += (x - from) / 10;  // of 100,000 coordinates
      squares += x * x / 10;
    }
    CHECK(population.excess(from, 1) == test::approx(excess).epsilon(0.01));
    CHECK(population.excess(from, 2) == test::approx(squares).epsilon(0.03));
  }
}

TEST_CASE("A last cell that is narrower than the others holds what lies in it") {
  const double p = 0.1;
  const Population population = alike(100, p, 64);
  const CellCounts& counts = population.counts(1);
  CHECK(population.before(counts, 64) == test::approx(6.4));
  CHECK(population.before(counts, 82) == test::approx(8.2));
  CHECK(population.before(counts, 100) == test::approx(10));
  CHECK(population.united(64, 100, 1) == test::approx(3.6));
  CHECK(population.united(64, 100, 2) == test::approx(36 * 0.19));
  const double slope = -std::log(0.9) * 0.9;  // of one coordinate at level 1
  CHECK(population.slope(0, 64, 1) == test::approx(64 * slope));
  CHECK(population.slope(64, 100, 1) == test::approx(36 * slope));
  CHECK(population.slope(82, 100, 1) == test::approx(18 * slope));
}

TEST_CASE("Counts are dispersed as sums of draws with unequal probabilities are") {
  CHECK(alike(1000, 0.3).counts(1).dispersion == test::approx(0.7));
  CHECK(alike(1000, 0.3).counts(2).dispersion == test::approx(0.49));
  const Population population = mixed({10, 90}, {0.5, 0.1}, {});
  const double mean = 10 * 0.5 + 90 * 0.1;
  const double variance = 10 * 0.5 * 0.5 + 90 * 0.1 * 0.9;
  CHECK(population.counts(1).dispersion == test::approx(variance / mean));
}

TEST_CASE("Coordinates with rate 0 are not there") {
  const Population population = mixed({10, 90}, {0.5, 0.0}, {});
  CHECK(population.present() == 1000);
  CHECK(population.united(1e9) == test::approx(1000));
  CHECK(population.level_of(1000) >= 0x1p30);
}

}  // namespace thinwire::inline gradient
