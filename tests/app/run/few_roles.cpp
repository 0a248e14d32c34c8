#include "sim/app/run/few_roles.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace thinwire::run {

using Parts = std::vector<std::int64_t>;

TEST_CASE("representative_parts: one part of each group, nearest to its mean") {
  CHECK(representative_parts({1, 2, 3, 10, 10, 40}, 2) == Parts{1, 5});
  CHECK(representative_parts({7, 1, 4, 1, 4, 3, 2, 4}, 4) == Parts{0, 2, 4, 6});
}

TEST_CASE("representative_parts: the fullest of all stands for its group") {
  CHECK(representative_parts({9, 1, 1, 1, 2, 2, 2, 2}, 2) == Parts{0, 4});
}

TEST_CASE("representative_parts: as many as there are parts, and no loads") {
  CHECK(representative_parts({5, 0, 3}, 3) == Parts{0, 1, 2});
  CHECK(representative_parts({0, 0, 0, 0}, 2) == Parts{0, 2});
}

}  // namespace thinwire::run
