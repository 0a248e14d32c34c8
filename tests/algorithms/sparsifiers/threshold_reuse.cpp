#include "algorithms/sparsifiers/threshold_reuse.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

TEST_CASE("A threshold is exact in the first iteration and then once a period") {
  const auto exact = [](std::int64_t period) {
    const ReusedThreshold reuse(period);
    std::vector<int> iterations;
    for (int iteration = 1; iteration <= 10; ++iteration) {
      if (reuse.exact_in(iteration)) iterations.push_back(iteration);
    }
    return iterations;
  };
  CHECK(exact(1) == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(exact(3) == std::vector{1, 4, 7, 10});
  CHECK(exact(32) == std::vector{1});
}

TEST_CASE("A threshold selects what reaches it until another one is set") {
  ReusedThreshold reuse(2);
  const SparseVector vector = SparseVector::checked({{1, 1.0F}, {2, -2.0F}, {3, 3.0F}});
  CHECK(reuse.select(vector).size() == 3);  // none yet
  reuse.set(2.0F);
  CHECK(test::entries_of(reuse.select(vector)) == test::Entries{{2, -2.0F}, {3, 3.0F}});
  CHECK(reuse.select(vector).size() == 2);
  reuse.set(3.5F);
  CHECK(reuse.select(vector).size() == 0);
}

}  // namespace thinwire::algorithms
