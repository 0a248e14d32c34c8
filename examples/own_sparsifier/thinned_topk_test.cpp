// Holds thinned_topk against what its comment says, and its counts against its entries.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "thinned_topk.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <thinwire/gradient.hpp>
#include <vector>

#include "traces/profile_source.hpp"

using namespace thinwire;
using namespace thinwire::algorithms;

namespace {

/// 0, 1, -2, 3, -4 ...: the largest are the last.
SparseVector growing(std::uint32_t components) {
  std::vector<Entry> entries;
  for (std::uint32_t i = 1; i < components; ++i) {
    entries.push_back({i, (i % 2 == 0 ? -1.0F : 1.0F) * static_cast<float>(i)});
  }
  return SparseVector::checked(entries);
}

SchemeSetup setup_of(std::int64_t components, std::int64_t k, std::int64_t times = 2) {
  const SparsifierInfo info = thinned_topk_sparsifier();
  return {.ranks = 4,
          .space = {components, 1},
          .k = k,
          .options = Options(info.options, {{"times", times}})};
}

/// Gradients whose popular components all ranks tend to select.
traces::Profile some_profile() {
  traces::Profile profile;
  profile.components = 40'000;
  profile.density = 0.02;
  profile.layers = {{"all", 0, 40'000}};
  profile.regions = {{0, 10'000, 1.6}, {0, 30'000, 0.8}};
  profile.popularity = {.rho = 0.25, .beta_a = 0.8, .block = 256, .clustering = 0.5};
  profile.magnitudes = {.shape = 0.9, .scale = 0.2, .below = 4, .rms = 0.4, .mean = 0.3};
  return profile;
}

/// The sizes of the sums of the selections of 1, 2, 4 and 8 ranks, which are messages of a recursive
/// doubling; means over iterations.
std::vector<double> sizes_of_sums(const traces::GradientSource& source, const SchemeSetup& setup) {
  constexpr int kIterations = 10;
  const auto sparsifier = thinned_topk_sparsifier().make(setup);
  std::vector<double> sizes(4);
  for (int iteration = 1; iteration <= kIterations; ++iteration) {
    std::vector<SparseVector> sums;
    for (int rank = 0; rank < 8; ++rank) {
      sums.push_back(
          sparsifier->select(source.sparse(Rank(rank), iteration), Rank(rank), iteration).selected);
    }
    for (double& size : sizes) {
      size += static_cast<double>(sums.front().size()) / kIterations;
      for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sum(sums[2 * i], sums[2 * i + 1]);
      sums.resize((sums.size() + 1) / 2);
    }
  }
  return sizes;
}

}  // namespace

TEST_CASE("k entries are selected, all among the 2k largest, each in half of the iterations") {
  constexpr int kIterations = 4000;
  const SchemeSetup setup = setup_of(100, 10);
  const auto sparsifier = thinned_topk_sparsifier().make(setup);
  std::map<std::uint32_t, int> selected;
  for (int iteration = 1; iteration <= kIterations; ++iteration) {
    const Selection selection = sparsifier->select(growing(100), Rank(1), iteration);
    CHECK(selection.selected.size() == 10);
    for (const Entry& entry : selection.selected.entries()) ++selected[entry.coordinate];
  }
  REQUIRE(selected.size() == 20);
  CHECK(selected.begin()->first == 80);
  for (const auto& [coordinate, times] : selected) {
    CAPTURE(coordinate);
    CHECK(std::abs(times - kIterations / 2) < 5 * std::sqrt(kIterations / 4.0));
  }
}

TEST_CASE("where few entries are not zero, all of them are selected") {
  const SchemeSetup setup = setup_of(100, 10);
  const auto sparsifier = thinned_topk_sparsifier().make(setup);
  CHECK(equal(sparsifier->select(growing(8), Rank(0), 1).selected, growing(8)));
  CHECK(sparsifier->select({}, Rank(0), 1).selected.size() == 0);
}

TEST_CASE("counts are as many as entries, however large the part is that is drawn from") {
  for (const std::int64_t times : {1, 2, 3, 4, 6, 8, 16}) {
    const SchemeSetup setup = setup_of(40'000, 800, times);
    const traces::ProfileSettings all{.space = setup.space, .k = setup.k, .reach = 0};
    const std::vector<double> entries =
        sizes_of_sums(traces::ExactProfileSource(some_profile(), all), setup);
    const std::vector<double> counts =
        sizes_of_sums(traces::StatisticalProfileSource(some_profile(), all), setup);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      CAPTURE(times);
      CAPTURE(i);
      CHECK(std::abs(counts[i] / entries[i] - 1) < 0.017);
    }
    CHECK(entries.front() == 800);
    CHECK(entries.back() > 2 * entries.front());
  }
}
