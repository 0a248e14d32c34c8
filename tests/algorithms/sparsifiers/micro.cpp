#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "algorithms/sparsifiers/exdyna.hpp"
#include "tests/support/sparsifiers.hpp"
#include "traces/synthetic.hpp"

namespace thinwire::algorithms {

using test::entries_of;
using test::SparsifierRanks;

TEST_CASE("MiCRO's ranks select in partitions as equal as possible, which they take in turns") {
  const GradientSpace space{.components = 10, .granule = 1};
  SparsifierRanks ranks(micro_sparsifier(),
                        {.space = space, .k = 10, .ranks = 3, .options = {{"threshold", 1e-9}}});
  std::vector<Entry> all;
  for (std::uint32_t i = 0; i < 10; ++i) all.push_back({i, 1});
  const SparseVector full = SparseVector::checked(all);
  constexpr std::array<std::uint32_t, 4> kBegins{0, 4, 7, 10};
  for (int iteration = 1; iteration <= 4; ++iteration) {
    for (int rank = 0; rank < 3; ++rank) {
      const Selection selection = ranks.select(full, iteration, rank);
      const auto own = static_cast<std::size_t>((iteration + rank) % 3);
      CHECK(selection.own_part);
      CHECK(selection.work.compared == kBegins[own + 1] - kBegins[own]);
      const auto entries = entries_of(selection.selected);
      REQUIRE(entries.size() == kBegins[own + 1] - kBegins[own]);
      CHECK(entries.front().coordinate == kBegins[own]);
    }
  }
}

TEST_CASE("MiCRO's threshold follows the count, from a start that is too low or too high") {
  const GradientSpace space{.components = 20'000, .granule = 1};
  constexpr std::int64_t kWanted = 400;
  const traces::SyntheticSource source({.ranks = 4, .space = space, .k = kWanted, .seed = 3});
  for (const double factor : {0.2, 5.0}) {
    const double exact = kth_magnitude(source.sparse(Rank(0), 1), kWanted);
    SparsifierRanks ranks(
        micro_sparsifier(),
        {.space = space, .k = kWanted, .ranks = 4, .options = {{"threshold", factor * exact}}});
    std::int64_t total = 0;
    for (int iteration = 1; iteration <= 600; ++iteration) {
      std::vector<std::int64_t> counts;
      for (int rank = 0; rank < 4; ++rank) {
        const SparseVector accumulated = source.sparse(Rank(rank), iteration);
        counts.push_back(test::size_of(ranks.select(accumulated, iteration, rank)));
      }
      ranks.observe(Numbers(counts), iteration);
      if (iteration > 500) total += Numbers(counts).total();
    }
    // Within the band in which the threshold moves slowly.
    CHECK(static_cast<double>(total) / 100 > 0.8 * kWanted);
    CHECK(static_cast<double>(total) / 100 < 1.2 * kWanted);
  }
}

}  // namespace thinwire::algorithms
