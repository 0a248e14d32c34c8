#include "sim/core/base/recycled_memory.hpp"

#include <doctest/doctest.h>

namespace thinwire::inline base {

TEST_CASE("Large memory is kept up to the limit, the oldest goes first, and small memory never") {
  constexpr std::size_t kCount = 1 << 16;
  RecycledMemory::keep(2 * kCount * sizeof(float));
  const void* first = nullptr;
  const void* third = nullptr;
  {
    const auto a = make_recycled<float>(kCount);
    const auto b = make_recycled<float>(kCount);
    const auto c = make_recycled<float>(kCount);
    first = a.get();  // given back last
    third = c.get();  // given back first, and dropped for a
  }
  {
    const auto a = make_recycled<float>(kCount);
    const auto b = make_recycled<float>(kCount);
    CHECK(a.get() == first);
    CHECK(b.get() != third);
    a[0] = 1;
    b[kCount - 1] = 1;
    const auto other = make_recycled<float>(kCount + 1);
    CHECK(other.get() != first);
  }
  RecycledMemory::keep(0);
  const auto none = make_recycled<float>(0);
  const auto small = make_recycled<double>(3);
  small[2] = 1;
}

}  // namespace thinwire::inline base
