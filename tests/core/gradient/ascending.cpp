#include "sim/core/gradient/ascending.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace thinwire {

TEST_CASE("Ascending numbers are what they were, in steps of any length") {
  for (const std::uint32_t step : {0U, 1U, 2259U, 2260U, 2261U, 100'000U}) {
    for (const std::size_t count : {0U, 1U, 29U, 30U, 31U, 60U, 1000U}) {
      std::vector<std::uint32_t> numbers;
      for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(7 + i * step);
      const Ascending ascending(numbers);
      for (std::size_t i = 0; i < count; ++i) CHECK(ascending[i] == numbers[i]);
    }
  }
}

}  // namespace thinwire
