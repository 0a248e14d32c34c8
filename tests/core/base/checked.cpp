#include "sim/core/base/checked.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace thinwire::inline base {

TEST_CASE("Sums and products that do not fit are empty") {
  CHECK(checked_sum<std::int64_t>(INT64_MAX - 1, 1) == INT64_MAX);
  CHECK_FALSE(checked_sum<std::int64_t>(INT64_MAX, 1).has_value());
  CHECK_FALSE(checked_sum<std::int64_t>(INT64_MIN, -1).has_value());
  CHECK(checked_product<std::int64_t>(std::int64_t{1} << 31, std::int64_t{1} << 31) ==
        std::int64_t{1} << 62);
  CHECK_FALSE(checked_product<std::int64_t>(72057594037927940, 1024).has_value());
  CHECK_FALSE(checked_product<std::uint32_t>(65536, 65536).has_value());
  CHECK(checked_sum(std::array{kLargestSize, kLargestSize, kLargestSize}) == 3 * kLargestSize);
  CHECK_FALSE(checked_sum(std::array{INT64_MAX, std::int64_t{1}, std::int64_t{-5}}).has_value());
}

}  // namespace thinwire::inline base
