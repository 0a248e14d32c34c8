#include "sim/core/gradient/space.hpp"

#include <doctest/doctest.h>

namespace thinwire::inline gradient {

TEST_CASE("Parts follow one another and differ in length by one at the most") {
  bool follow = true;
  bool even = true;
  bool longer_first = true;
  for (const std::int64_t length : {0, 1, 2, 3, 5, 7, 10, 63, 64, 65, 100, 4096, 1000003}) {
    for (const std::int64_t parts : {1, 2, 3, 4, 5, 7, 16, 17, 64, 100}) {
      follow = follow && part_begin(length, parts, 0) == 0;
      follow = follow && part_begin(length, parts, parts) == length;
      std::int64_t previous = length / parts + 1;
      for (std::int64_t i = 0; i < parts; ++i) {
        const std::int64_t size = part_begin(length, parts, i + 1) - part_begin(length, parts, i);
        even = even && (size == length / parts || size == length / parts + 1);
        longer_first = longer_first && size <= previous;
        previous = size;
      }
    }
  }
  CHECK(follow);
  CHECK(even);
  CHECK(longer_first);
}

TEST_CASE("With granule 1 coordinates are components") {
  const GradientSpace space{.components = 10, .granule = 1};
  CHECK(space.coordinates() == 10);
  CHECK(space.component(7) == 7);
  CHECK(space.coordinate(7) == 7);
  CHECK(space.coo_words(3) == Words(6));
}

TEST_CASE("A coordinate stands for a granule of components and the last one for the rest") {
  const GradientSpace space{.components = 10, .granule = 4};
  CHECK(space.coordinates() == 3);
  CHECK(space.component(0) == 0);
  CHECK(space.component(2) == 8);
  CHECK(space.component(3) == 10);
  CHECK(space.coordinate(0) == 0);
  CHECK(space.coordinate(1) == 1);
  CHECK(space.coordinate(4) == 1);
  CHECK(space.coordinate(5) == 2);
  CHECK(space.coordinate(10) == 3);
  CHECK(space.coo_words(3) == Words(24));
}

TEST_CASE("Every granule belongs to the one part in which its first component lies") {
  bool right = true;
  for (const std::int64_t n : {1, 7, 64, 100, 101, 103}) {
    for (const std::int64_t granule : {1, 2, 3, 4, 8, 200}) {
      const GradientSpace space{.components = n, .granule = granule};
      for (const std::int64_t parts : {1, 2, 3, 7, 16, 64}) {
        right = right && space.coordinate(0) == 0;
        right = right && space.coordinate(n) == space.coordinates();
        for (std::int64_t part = 0; part < parts; ++part) {
          const std::int64_t begin = part_begin(n, parts, part);
          const std::int64_t end = part_begin(n, parts, part + 1);
          for (std::int64_t c = space.coordinate(begin); c < space.coordinate(end); ++c) {
            right = right && space.component(c) >= begin && space.component(c) < end;
          }
        }
      }
    }
  }
  CHECK(right);
}

}  // namespace thinwire::inline gradient
