#include "algorithms/sparsifiers/random_k.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::SparsifierRanks;

TEST_CASE("random_coordinates are so many different ones below the end, in order") {
  for (const std::int64_t end : {1, 2, 7, 100, 1001}) {
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{1}, end / 3, end / 2, end / 2 + 1, end - 1, end, end + 5}) {
      for (std::uint64_t key = 0; key < 20; ++key) {
        const std::vector<std::uint32_t> drawn = random_coordinates(count, end, key);
        CHECK(drawn.size() == static_cast<std::size_t>(std::min(count, end)));
        CHECK(std::ranges::adjacent_find(drawn, std::greater_equal{}) == drawn.end());
        CHECK((drawn.empty() || drawn.back() < end));
      }
    }
  }
}

TEST_CASE("random_coordinates are all alike likely, alone and in pairs") {
  for (const std::int64_t count : {3, 17}) {  // drawn, and left out
    constexpr std::int64_t kEnd = 20;
    constexpr int kDraws = 20000;
    std::vector<std::int64_t> singles(kEnd);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> pairs;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto drawn = random_coordinates(count, kEnd, random_bits(5, draw));
      for (const std::uint32_t a : drawn) {
        ++singles[a];
        for (const std::uint32_t b : drawn) {
          if (a < b) ++pairs[{a, b}];
        }
      }
    }
    std::vector<std::int64_t> pair_counts;
    for (const auto& [pair, often] : pairs) pair_counts.push_back(often);
    REQUIRE(pair_counts.size() == 190);
    // Draws without repetition vary less than chi-square, so its bounds hold from above:
    // mean 19 and 189, deviation 6.2 and 19.4.
    CHECK(test::chi_square(singles) < 19 + 4 * 6.2);
    CHECK(test::chi_square(pair_counts) < 189 + 4 * 19.4);
  }
}

TEST_CASE("random_coordinates of a large space fall evenly over it") {
  constexpr std::int64_t kEnd = 1'000'000'007;
  std::vector<std::int64_t> bins(100);
  for (std::uint64_t key = 0; key < 10; ++key) {
    for (const std::uint32_t coordinate : random_coordinates(10000, kEnd, key)) {
      ++bins[static_cast<std::size_t>(std::int64_t{coordinate} * 100 / kEnd)];
    }
  }
  const double statistic = test::chi_square(bins);  // 99 ± 14.1
  CHECK(statistic < 99 + 4 * 14.1);
  CHECK(statistic > 99 - 4 * 14.1);
}

TEST_CASE("random_k sends values where there are some and zeros elsewhere") {
  const GradientSpace space{.components = 1001, .granule = 10};
  const SparseVector accumulated =
      test::filled(50, [](std::int64_t i) { return static_cast<double>(i) + 1; });
  SparsifierRanks ranks(random_k_sparsifier(), {.space = space, .k = 300});
  const Selection selection = ranks.select(accumulated);
  CHECK(selection.selected.size() == 30);
  CHECK(test::operator==(selection.work, SelectionWork{.sampled = 300}));
  int zeros = 0;
  for (const Entry& entry : selection.selected.entries()) {
    CHECK(entry.coordinate < 101);
    CHECK(entry.value == (entry.coordinate < 50 ? static_cast<float>(entry.coordinate) + 1 : 0));
    if (entry.value == 0) ++zeros;
  }
  CHECK(zeros > 5);
  CHECK(zeros < 25);
  CHECK(ranks.select(SparseVector(), 2).selected.size() == 30);
}

TEST_CASE("random_k draws anew each iteration, for each rank or for all") {
  const auto places = [](bool shared, std::uint64_t seed) {
    SparsifierRanks ranks(random_k_sparsifier(),
                          {.k = 100, .ranks = 2, .options = {{"shared", shared}}, .seed = seed});
    std::vector<Entries> drawn;
    for (const int iteration : {1, 2}) {
      for (const int rank : {0, 1}) {
        drawn.push_back(entries_of(ranks.select(SparseVector(), iteration, rank).selected));
      }
      ranks.clear_shared();
    }
    return drawn;
  };
  const auto own = places(false, 1);
  CHECK(own[0] != own[1]);
  CHECK(own[0] != own[2]);
  CHECK(own == places(false, 1));
  CHECK(own != places(false, 2));
  const auto common = places(true, 1);
  CHECK(common[0] == common[1]);
  CHECK(common[2] == common[3]);
  CHECK(common[0] != common[2]);
}

TEST_CASE("random_k draws what all ranks share only once") {
  SparsifierRanks ranks(random_k_sparsifier(),
                        {.k = 100, .ranks = 12, .options = {{"shared", true}}});
  for (int rank = 0; rank < 12; ++rank) {
    const SparseVector accumulated = test::filled(1000, [&](std::int64_t) { return rank + 1.0; });
    const Selection selection = ranks.select(accumulated, 1, rank);
    for (const Entry& entry : selection.selected.entries()) {
      CHECK(entry.value == static_cast<float>(rank + 1));
    }
  }
  CHECK(ranks.computed() == 1);
}

}  // namespace thinwire::algorithms
