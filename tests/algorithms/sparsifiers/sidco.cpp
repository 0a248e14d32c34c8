#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

constexpr GradientSpace kSidcoSpace{.components = 200000, .granule = 1};

SparseVector stretched(double shape) {
  return test::filled(kSidcoSpace.components,
                      [&](std::int64_t i) { return test::stretched_value(11, i, shape); });
}

/// Options with which the number of stages stays.
std::map<std::string, OptionValue> fixed(std::int64_t stages) {
  return {{"stages", stages}, {"period", std::int64_t{1000}}};
}

struct Fit {
  double threshold;
  SelectionWork work;
};

/// The paper's equations on a list of all n magnitudes.
Fit fit_of(std::vector<double> magnitudes, double density, int stages, double first) {
  const auto whole = static_cast<std::int64_t>(magnitudes.size());
  Fit fit{.threshold = 0, .work = {.scanned = whole, .compared = whole, .prefix_summed = whole}};
  const double later = std::pow(density / first, 1.0 / (stages - 1));
  for (int stage = 1; stage <= stages; ++stage) {
    const double ratio = stages == 1 ? density : stage == 1 ? first : later;
    if (stage > 1) {
      fit.work.compared += static_cast<std::int64_t>(magnitudes.size());
      std::erase_if(magnitudes, [&](double magnitude) { return magnitude <= fit.threshold; });
      fit.work.scanned += static_cast<std::int64_t>(magnitudes.size());
    }
    double excess = 0;
    for (const double magnitude : magnitudes) excess += magnitude - fit.threshold;
    fit.threshold += excess / static_cast<double>(magnitudes.size()) * std::log(1 / ratio);
  }
  return fit;
}

}  // namespace

TEST_CASE("sidco selects k of exponential magnitudes, whatever the number of stages") {
  const SparseVector accumulated = stretched(1);
  for (const std::int64_t k : {200, 2000, 20000}) {
    for (const std::int64_t stages : {1, 2, 3}) {
      CAPTURE(k);
      CAPTURE(stages);
      SparsifierRanks ranks(sidco_sparsifier(),
                            {.space = kSidcoSpace, .k = k, .options = fixed(stages)});
      const double share =
          static_cast<double>(size_of(ranks.select(accumulated))) / static_cast<double>(k);
      CHECK(share == test::approx(1).epsilon(0.2));
      if (k > 200) CHECK(share == test::approx(1).epsilon(0.06));
    }
  }
}

TEST_CASE("sidco's threshold and work follow the equations") {
  // Two components a coordinate, and a third of all that is not held.
  const GradientSpace space{.components = 600000, .granule = 2};
  for (const double shape : {0.6, 1.0, 2.0}) {
    const SparseVector accumulated = stretched(shape);
    std::vector<double> magnitudes(600000);
    for (const Entry& entry : accumulated.entries()) {
      magnitudes[std::size_t{2} * entry.coordinate] = std::abs(entry.value);
      magnitudes[std::size_t{2} * entry.coordinate + 1] = std::abs(entry.value);
    }
    for (const int stages : {1, 2, 4}) {
      CAPTURE(shape);
      CAPTURE(stages);
      SparsifierRanks ranks(sidco_sparsifier(),
                            {.space = space, .k = 6000, .options = fixed(stages)});
      const Selection selection = ranks.select(accumulated);
      const Fit fit = fit_of(magnitudes, 0.01, stages, 0.25);
      const auto expected =
          test::at_least(entries_of(accumulated), static_cast<float>(fit.threshold));
      CHECK(entries_of(selection.selected) == expected);
      CHECK(test::operator==(selection.work, fit.work));
    }
  }
}

TEST_CASE("sidco reads n and then the exceedances of each stage") {
  // mean 2.5 over 8: η1 = 2.5 ln 4 = 3.47, exceeded by 4, 5, 5 and 6 by 1.53 on average.
  const SparseVector accumulated = SparseVector::checked(
      {{0, 0.0F}, {1, 5.0F}, {2, -4.0F}, {3, 6.0F}, {4, 0.0F}, {5, -5.0F}, {6, 0.0F}});
  const GradientSpace space{.components = 8, .granule = 1};
  SparsifierRanks one(sidco_sparsifier(), {.space = space, .k = 1, .options = fixed(1)});
  CHECK(test::operator==(one.select(accumulated).work,
                         SelectionWork{.scanned = 8, .compared = 8, .prefix_summed = 8}));
  // k = 1: δ2 = 0.5, η2 = 3.47 + 1.53 ln 2 = 4.53, reached by 5, 6 and 5.
  SparsifierRanks two(sidco_sparsifier(), {.space = space, .k = 1, .options = fixed(2)});
  const Selection selection = two.select(accumulated);
  CHECK(entries_of(selection.selected) == test::Entries{{1, 5.0F}, {3, 6.0F}, {5, -5.0F}});
  CHECK(test::operator==
        (selection.work, SelectionWork{.scanned = 12, .compared = 16, .prefix_summed = 8}));
  // Three: δ2 = δ3 = 0.71, η2 = 3.47 + 0.53 = 4.0; 5, 5 and 6 exceed it; η3 = 4.0 + 0.46 = 4.46.
  SparsifierRanks three(sidco_sparsifier(), {.space = space, .k = 1, .options = fixed(3)});
  const Selection last = three.select(accumulated);
  CHECK(size_of(last) == 3);
  CHECK(last.work.compared == 8 + 8 + 4);
}

TEST_CASE("sidco with a density above its first ratio fits once") {
  const SparseVector accumulated = stretched(1);
  SparsifierRanks one(sidco_sparsifier(), {.space = kSidcoSpace, .k = 60000, .options = fixed(1)});
  SparsifierRanks three(sidco_sparsifier(),
                        {.space = kSidcoSpace, .k = 60000, .options = fixed(3)});
  CHECK(entries_of(one.select(accumulated).selected) ==
        entries_of(three.select(accumulated).selected));
}

TEST_CASE("sidco adds stages while it selects too few, and takes them away while too many") {
  // Tails lighter than exponential: one stage selects far too few.
  const SparseVector light = stretched(2);
  SparsifierRanks ranks(sidco_sparsifier(), {.space = kSidcoSpace, .k = 2000});
  std::vector<std::int64_t> counts;
  for (int iteration = 1; iteration <= 60; ++iteration) {
    counts.push_back(size_of(ranks.select(light, iteration)));
  }
  CHECK(counts[0] < 200);
  for (std::size_t i = 1; i < 5; ++i) CHECK(counts[i] == counts[0]);  // changes after 5 only
  CHECK(counts[5] > counts[4]);
  for (std::size_t i = 50; i < 60; ++i) {
    CHECK(counts[i] >= 1600);
    CHECK(counts[i] <= 2400);
  }

  // Too many stages for a tail that is too heavy: fewer after 5 iterations, so work falls.
  const SparseVector heavy = stretched(0.5);
  SparsifierRanks falling(sidco_sparsifier(),
                          {.space = kSidcoSpace,
                           .k = 2000,
                           .options = {{"stages", std::int64_t{2}}, {"tolerance", 0.0}}});
  const std::int64_t before = falling.select(heavy, 1).work.compared;
  for (int iteration = 2; iteration <= 5; ++iteration) {
    CHECK(falling.select(heavy, iteration).work.compared == before);
  }
  CHECK(falling.select(heavy, 6).work.compared != before);
}

}  // namespace thinwire::algorithms
