#include "sim/core/base/quantile.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

namespace thinwire::inline base {

TEST_CASE("Quantiles lie between the sorted values") {
  CHECK(quantile({7}, 0.9) == 7);
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({4, 1, 2, 3}, 0.5) == test::approx(2.5));
  CHECK(quantile({0, 10, 20, 30, 40}, 0.9) == test::approx(36));
}

}  // namespace thinwire::inline base
