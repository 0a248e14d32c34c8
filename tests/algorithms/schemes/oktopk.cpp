// Ok-Topk's global threshold between two exact ones. Its sums and costs are tested with all schemes.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

TEST_CASE("A nudged global threshold rises with global_raise and falls with global_lower") {
  constexpr int kRanks = 4;
  constexpr std::int64_t kSelected = 40;
  constexpr int kAll = kRanks * static_cast<int>(kSelected);
  // No two ranks have a coordinate in common. The values are 1, 1 + 1/160, 1 + 2/160, ... below 2,
  // times the scale of the iteration.
  const auto gradient = [](int rank, double scale) {
    std::vector<Entry> entries;
    for (int i = rank; i < kAll; i += kRanks) {
      entries.push_back({static_cast<std::uint32_t>(i),
                         static_cast<float>(scale * (1 + static_cast<double>(i) / kAll))});
    }
    return SparseVector::checked(std::move(entries));
  };
  test::SchemeRanks all(find_scheme("oktopk+exact_topk"), kRanks,
                        {.components = 1000, .granule = 1}, kSelected,
                        {{"nudge", true}, {"global_raise", 2.0}, {"global_lower", 1.5}});
  test::Networks networks;
  struct Expected {
    double scale;
    double threshold;
  };
  // It is exact in the first iteration. In the second one all 160 sums reach it, so it doubles; in
  // the fifth and sixth none does, so it falls.
  const std::vector<Expected> iterations{{1, 1.75}, {2, 1.75},      {2, 3.5},       {2, 3.5},
                                         {1, 3.5},  {1, 3.5 / 1.5}, {1, 3.5 / 2.25}};
  int iteration = 0;
  for (const auto& [scale, threshold] : iterations) {
    ++iteration;
    CAPTURE(iteration);
    const auto outcome =
        all.run(networks.counting, iteration, [&](int rank) { return gradient(rank, scale); });
    int reach = 0;
    for (int i = 0; i < kAll; ++i) {
      if (scale * (1 + static_cast<double>(i) / kAll) >= threshold * (1 - 1e-6)) ++reach;
    }
    CHECK(std::get<SparseVector>(outcome.results.front().sum).size() == reach);
  }
}

}  // namespace thinwire::algorithms
