#include "algorithms/decoding.hpp"

#include <doctest/doctest.h>

namespace thinwire::algorithms {

TEST_CASE("decoding sparse vectors sets a vector to zero, and launches for entries alone") {
  WorkPrices prices;
  prices.scan = {.call = Seconds(1), .element = Seconds(0.5)};
  prices.scatter = {.call = Seconds(10), .element = Seconds(7)};
  CHECK(sparse_decoding(prices, Seconds(2), 100, 3) == Seconds(1 + 50 + 10 + 6));
  CHECK(sparse_decoding(prices, Seconds(2), 100, 0) == Seconds(1 + 50));
}

}  // namespace thinwire::algorithms
