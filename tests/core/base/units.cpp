#include "sim/core/base/units.hpp"

#include <doctest/doctest.h>

#include <type_traits>

namespace thinwire::inline base {

TEST_CASE("Quantities of one kind add and compare like their numbers") {
  Words words(3);
  words += Words(4);
  CHECK(words == Words(7));
  words -= Words(2);
  CHECK(words.value() == 5);
  CHECK((Words(2) + Words(3)).value() == 5);
  CHECK((Words(2) - Words(3)).value() == -1);
  CHECK((Seconds(0.5) * 4.0).value() == 2.0);
  CHECK(Words(1) < Words(2));
  CHECK(Rank(3) > Rank(-1));
  CHECK(Words().value() == 0);
  CHECK(Seconds().value() == 0.0);
}

TEST_CASE("A word is four bytes") {
  CHECK(to_bytes(Words(0)) == Bytes(0));
  CHECK(to_bytes(Words(5)) == Bytes(20));
  CHECK(to_bytes(Words(std::int64_t{1} << 40)) == Bytes(std::int64_t{1} << 42));
}

TEST_CASE("Quantities of different kinds do not mix and none comes from a bare number") {
  static_assert(!std::is_convertible_v<Words, Bytes>);
  static_assert(!std::is_constructible_v<Words, Bytes>);
  static_assert(!std::is_constructible_v<Rank, Tag>);
  static_assert(!std::is_convertible_v<std::int64_t, Words>);
  static_assert(!std::is_convertible_v<double, Seconds>);
  static_assert(!std::is_convertible_v<Words, std::int64_t>);
  static_assert(std::is_trivially_copyable_v<Words>);
  CHECK(sizeof(Rank) == 4);
}

}  // namespace thinwire::inline base
