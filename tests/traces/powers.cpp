#include "traces/powers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace thinwire::traces {

TEST_CASE("powers: those of the library, to the bit") {
  std::vector<float> numbers;
  for (int i = 1; i < 1 << 23; i += 37) numbers.push_back(static_cast<float>((i + 0.5) * 0x1p-23));
  for (const float exponent : {-0.25F, -0.013F, -3.7F, -40.0F, 0.0F, 1.0F}) {
    CAPTURE(exponent);
    std::vector<float> powers = numbers;
    raise_each(powers, exponent);
    std::size_t other = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (powers[i] != std::pow(numbers[i], exponent)) ++other;
    }
    CHECK(other == 0);
  }
}

}  // namespace thinwire::traces
