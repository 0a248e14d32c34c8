// What a sparsifier is expected to take, by which DRAGONN's Equation 1 weighs it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "algorithms/registry.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

TEST_CASE("A sparsifier takes the work that is expected of it, in the mean of a period") {
  constexpr std::int64_t kComponents = 20'000;
  constexpr std::int64_t kSelected = 200;
  constexpr int kIterations = 32;
  int sparsifiers = 0;
  for (const SparsifierInfo& info : all_sparsifiers()) {
    if (!info.expected_work) continue;
    CAPTURE(info.name);
    test::SparsifierRanks ranks(
        info, {.space = {.components = kComponents, .granule = 1}, .k = kSelected});
    const SelectionWork expected =
        info.expected_work(kComponents, kSelected, Options(info.options, {}));
    SelectionWork all;
    for (int iteration = 1; iteration <= kIterations; ++iteration) {
      const auto seed = static_cast<std::uint64_t>(iteration);
      all = all + ranks
                      .select(test::filled(kComponents,
                                           [&](std::int64_t at) {
                                             return test::stretched_value(seed, at, 1);
                                           }),
                              iteration)
                      .work;
    }
    for (const auto& [name, kind] : kWorkKinds) {
      CAPTURE(std::string(name));
      const double mean = static_cast<double>(all.*kind) / kIterations;
      // Selections differ from k by some percent, and stages after the first see few components.
      const auto of_selected = static_cast<double>(kSelected);
      CHECK(std::abs(mean - static_cast<double>(expected.*kind)) <= of_selected);
    }
    ++sparsifiers;
  }
  CHECK(sparsifiers >= 10);
}

}  // namespace thinwire::algorithms
