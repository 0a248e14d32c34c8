#include "sim/core/base/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <set>

namespace thinwire::inline base {

TEST_CASE("The mix of random bits is the finaliser of SplitMix64") {
  // The first outputs of the reference implementation seeded with 0.
  CHECK(mix(0) == 0xe220a8397b1dcdafU);
  CHECK(mix(0x9e3779b97f4a7c15U) == 0x6e789e6aa1b965f4U);
  CHECK(mix(2 * 0x9e3779b97f4a7c15U) == 0x06c45d188009454fU);
}

TEST_CASE("A draw depends on each of its counters and on their order") {
  std::set<std::uint64_t> draws;
  int made = 0;
  for (int seed = 0; seed < 8; ++seed) {
    for (int a = 0; a < 16; ++a) {
      for (int b = 0; b < 16; ++b, ++made) {
        draws.insert(random_bits(static_cast<std::uint64_t>(seed), a, b));
      }
    }
  }
  CHECK(draws.size() == static_cast<std::size_t>(made));
  CHECK(random_bits(1, 2, 3) != random_bits(1, 3, 2));
  CHECK(random_bits(1, 2) != random_bits(1, 2, 0));
  CHECK(random_bits(5, 6, 7) == random_bits(5, 6, 7));
}

TEST_CASE("Unit draws lie strictly between 0 and 1 and spread evenly") {
  CHECK(to_unit(0) > 0.0);
  CHECK(to_unit(UINT64_MAX) < 1.0);
  CHECK(std::isfinite(std::log(to_unit(0))));
  constexpr int kDraws = 100000;
  std::array<int, 10> bins{};
  for (int i = 0; i < kDraws; ++i) {
    ++bins[static_cast<std::size_t>(10 * to_unit(random_bits(42, i)))];
  }
  for (const int bin : bins) CHECK(std::abs(bin - kDraws / 10) < 500);  // five standard deviations
}

}  // namespace thinwire::inline base
