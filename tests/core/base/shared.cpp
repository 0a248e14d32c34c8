#include "sim/core/base/shared.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "tests/support/bodies.hpp"

namespace thinwire::inline base {

using test::BodyCount;
using test::CountedBody;

TEST_CASE("A body lives exactly as long as something refers to it") {
  BodyCount count;
  {
    Ref<const CountedBody> first = make_ref<const CountedBody>(count);
    CHECK(count.living == 1);
    const Ref<const CountedBody> second = first;
    CHECK(second == first);
    first = Ref<const CountedBody>();
    CHECK_FALSE(first);
    CHECK(count.living == 1);
  }
  CHECK(count.living == 0);
}

TEST_CASE("Moving and converting a reference keeps the count") {
  BodyCount count;
  {
    Ref<CountedBody> own = make_ref<CountedBody>(count);
    Ref<const Body> base = std::move(own);
    CHECK_FALSE(own);  // NOLINT(bugprone-use-after-move)
    CHECK(count.living == 1);
    const Ref<const Body> moved = std::move(base);
    CHECK(count.living == 1);
    std::vector<Ref<const Body>> many(100, moved);
    many.clear();
    CHECK(count.living == 1);
  }
  CHECK(count.living == 0);
}

TEST_CASE("Assigning a reference to itself or replacing it loses nothing") {
  BodyCount count;
  {
    Ref<const CountedBody> a = make_ref<const CountedBody>(count, 1);
    const Ref<const CountedBody>& same = a;
    a = same;
    CHECK(count.living == 1);
    CHECK(a->number() == 1);
    a = make_ref<const CountedBody>(count, 2);
    CHECK(count.living == 1);
    CHECK(a->number() == 2);
  }
  CHECK(count.living == 0);
}

}  // namespace thinwire::inline base
