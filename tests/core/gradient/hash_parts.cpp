// Parts by hash, exact and statistical. The oracle is the hash itself, coordinate by coordinate.
#include "sim/core/gradient/hash_parts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/hash_bitmap.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::inline gradient {

TEST_CASE("Parts by hash hold each entry once, where its coordinate says, and join to the whole") {
  test::Generator generator(3);
  for (const int parts : {1, 2, 3, 7, 64}) {
    const SparseVector vector = test::random_vector(generator, 100, 5000, 700);
    const std::vector<SparseVector> split = parts_by_hash(vector, parts);
    REQUIRE(split.size() == static_cast<std::size_t>(parts));
    std::size_t size = 0;
    for (std::size_t i = 0; i < split.size(); ++i) {
      size += split[i].size();
      for (const Entry& entry : split[i].entries()) {
        CHECK(part_by_hash(entry.coordinate, parts) == i);
      }
      CHECK_NOTHROW(static_cast<void>(SparseVector::checked(test::entries_of(split[i]))));
    }
    CHECK(size == vector.size());
    CHECK(equal(joined_by_hash(split), vector));
  }
  CHECK(joined_by_hash(parts_by_hash({}, 5)).size() == 0);
}

TEST_CASE("Coordinates that follow one another are spread evenly over the parts") {
  constexpr std::uint32_t kCoordinates = 100'000;
  for (const int parts : {2, 7, 128}) {
    const auto& lists = coordinates_by_hash(kCoordinates, parts);
    const double share = static_cast<double>(kCoordinates) / parts;
    for (const auto& list : lists) {
      CHECK(std::abs(static_cast<double>(list.size()) - share) < 6 * std::sqrt(share));
    }
  }
}

TEST_CASE("A hash bitmap keeps the part, with a bit for each coordinate that can be in it") {
  test::Generator generator(4);
  for (const std::uint32_t coordinates : {1U, 31U, 1000U}) {
    const SparseVector vector = test::random_vector(generator, 0, coordinates, 300);
    for (const int parts : {1, 3, 8}) {
      const auto split = parts_by_hash(vector, parts);
      for (std::uint32_t i = 0; i < split.size(); ++i) {
        const HashBitmap::Place place{i, static_cast<std::uint32_t>(parts), coordinates};
        const Payload payload = HashBitmap::of(split[i], place);
        CHECK(HashBitmap::holds(payload));
        CHECK(HashBitmap::place(payload) == place);
        const auto words = HashBitmap::encoded(payload);
        const auto indexes = coordinates_by_hash(coordinates, parts)[i].size();
        CHECK(words.size() == (indexes + 31) / 32 + split[i].size());
        CHECK(equal(HashBitmap::decoded(words, split[i].size(), place), split[i]));
        CHECK_THROWS_AS(static_cast<void>(HashBitmap::decoded(words, split[i].size() + 1, place)),
                        SimulationError);
      }
    }
  }
  const HashBitmap::Place second{1, 2, 100};
  const Payload elsewhere = HashBitmap::of(
      SparseVector::checked({{coordinates_by_hash(100, 2)[0].front(), 1.0F}}), second);
  CHECK_THROWS_AS(static_cast<void>(HashBitmap::encoded(elsewhere)), SimulationError);
}

}  // namespace thinwire::inline gradient
