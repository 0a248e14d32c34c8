#include "sim/core/gradient/packed_sparse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/gradients.hpp"

namespace thinwire::inline gradient {

TEST_CASE("Packed words are as many as the formula says, and unpack to the same entries") {
  for (const std::int64_t chunk : {0, 1, 7, 64, 4096}) {
    for (const std::int64_t n : {1, 10, 1000, 9000}) {
      for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n}) {
        for (const int bits : {1, 2, 4, 8}) {
          CAPTURE(chunk);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(bits);
          SparsePacking packing{.chunk = chunk, .coordinates = n, .bits = bits};
          SparseVector vector = test::shaped_gradient(test::Shape::random,
                                                      static_cast<std::uint32_t>(n), 1, 0, 1, 50);
          if (chunk > 0) {
            // No more than the share of each chunk, and then exactly that.
            std::vector<SparseVector> parts;
            std::size_t from = 0;
            for (std::int64_t first = 0; first < n; first += chunk) {
              const std::int64_t last = std::min(n, first + chunk);
              const std::size_t to = vector.position_of(static_cast<std::uint32_t>(last), from);
              parts.push_back(select_largest(vector.slice(from, to), k * last / n - k * first / n));
              from = to;
            }
            vector = filled(concatenate(parts), k, packing);
            REQUIRE(std::cmp_equal(vector.size(), k));
          }
          Binned result = binned(vector, bits);
          packing.levels = result.levels;
          const std::vector<std::uint32_t> words = pack_sparse(result.vector, packing);
          const auto count = static_cast<std::int64_t>(vector.size());
          if (count == 0) continue;  // nothing is sent
          CHECK(std::cmp_equal(words.size(), SparsePacking::words(count, chunk, bits)));
          SparsePacking read{.chunk = chunk, .coordinates = n, .bits = bits};
          const std::vector<Entry> entries = unpack_sparse(words, count, read);
          CHECK(std::ranges::equal(entries, result.vector.entries()));
        }
      }
    }
  }
}

TEST_CASE("SparseLoCo's 64 of 4096 entries in 2 bits take 14 bits each") {
  CHECK(SparsePacking::words(6400, 4096, 2) == 4 + 6400 * 14 / 32);
  CHECK(SparsePacking::words(0, 4096, 2) == 0);
  CHECK(SparsePacking::words(10, 0, 2) == 4 + 11);  // 340 bits
}

TEST_CASE("A binned value is the mean of its bin, so that the sum of all stays") {
  const SparseVector vector = SparseVector::checked({{1, 1}, {2, 2}, {5, 30}, {7, -20}});
  const Binned result = binned(vector, 2);
  double before = 0;
  double after = 0;
  for (const Entry& entry : vector.entries()) before += entry.value;
  for (const Entry& entry : result.vector.entries()) after += entry.value;
  CHECK(after == test::approx(before));
  // 1 and 2 are near the mean, 3.25, and 30 and -20 in bins of their own.
  CHECK(result.vector.entries()[0].value == 1.5F);
  CHECK(result.vector.entries()[2].value == 30);
  CHECK(result.vector.entries()[3].value == -20);
  CHECK(binned(SparseVector(), 2).vector.size() == 0);
}

TEST_CASE("A vector that is not of the packing is refused") {
  const SparseVector vector = SparseVector::checked({{1, 1}, {2, 1}});
  SparsePacking packing{.chunk = 4, .coordinates = 8, .bits = 2, .levels = {1, 0, 0, 0}};
  CHECK_THROWS_AS(static_cast<void>(pack_sparse(vector, packing)), SimulationError);
  packing.chunk = 8;
  packing.levels = {2, 0, 0, 0};
  CHECK_THROWS_AS(static_cast<void>(pack_sparse(vector, packing)), SimulationError);
}

}  // namespace thinwire::inline gradient
