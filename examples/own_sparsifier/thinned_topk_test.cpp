// Holds thinned_topk against what its comment says, of entries. Of counts it is run in the tutorial.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "thinned_topk.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <thinwire/gradient.hpp>
#include <vector>

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

SchemeSetup setup_of(std::int64_t components, std::int64_t k) {
  const SparsifierInfo info = thinned_topk_sparsifier();
  return {.ranks = 4, .space = {components, 1}, .k = k, .options = Options(info.options, {})};
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
