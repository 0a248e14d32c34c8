#include "sim/core/gradient/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/shared_work.hpp"

namespace thinwire::inline gradient {

namespace {

using List = std::vector<std::int64_t>;

List list_of(const Numbers& numbers) { return {numbers.all().begin(), numbers.all().end()}; }

}  // namespace

TEST_CASE("A deferred list is made when it is looked at, once") {
  int made = 0;
  const Numbers numbers = Numbers::deferred(3, [&] {
    ++made;
    return List{4, -5, 6};
  });
  CHECK(numbers.size() == 3);
  CHECK(numbers.whole() == 3);
  CHECK(numbers.message().words == Words(3));
  CHECK(Numbers::holds(numbers.message().payload));
  CHECK(numbers.is_deferred());
  CHECK(made == 0);
  CHECK(list_of(Numbers::from(numbers.message().payload)) == List{4, -5, 6});
  CHECK(numbers[1] == -5);
  CHECK(numbers.total() == 5);
  CHECK(made == 1);
  CHECK_FALSE(numbers.is_deferred());
}

TEST_CASE("A sum of deferred lists is made without the sums in between") {
  SharedWork shared(8);
  const NumbersReduction reduction(shared);
  int made = 0;
  std::vector<Message> lists;
  for (std::int64_t i = 1; i <= 4; ++i) {
    lists.push_back(Numbers::deferred(2, [&made, i] {
                      ++made;
                      return List{i, 10 * i};
                    }).message());
  }
  lists.push_back(Numbers({100, 1000}).message());
  const Message a = reduction.sum(lists[0], lists[1]).message;
  const Message b = reduction.sum(lists[2], lists[3]).message;
  const Message all = reduction.sum(reduction.sum(a, b).message, lists[4]).message;
  CHECK(all.words == Words(2));
  CHECK(made == 0);
  CHECK(list_of(Numbers::from(all.payload)) == List{110, 1100});
  CHECK(made == 4);
  CHECK(Numbers::from(a.payload).is_deferred());
  CHECK(list_of(Numbers::from(b.payload)) == List{7, 70});
  CHECK(list_of(Numbers::from(lists[2].payload)) == List{3, 30});
}

TEST_CASE("A sum of lists of which none is deferred is not deferred either") {
  const Numbers sum = Numbers::sum(Numbers({1, 2}, 4, 10), Numbers({30, 40}, 4, 10));
  CHECK_FALSE(sum.is_deferred());
  CHECK(list_of(sum) == List{31, 42});
  CHECK(sum.first() == 4);
  CHECK(sum.whole() == 10);
}

TEST_CASE("Lists of the same numbers have the same total, largest number and contents") {
  const Numbers numbers({3, -5, 7});
  const Numbers same = Numbers::deferred(3, [] { return List{3, -5, 7}; });
  CHECK(numbers.total() == 5);
  CHECK(same.total() == 5);
  CHECK(same.largest() == 7);
  CHECK(Numbers({-4, -2}).largest() == -2);
  CHECK(Numbers(List{}).largest() == 0);
  CHECK(Numbers(List{}).total() == 0);
  CHECK(numbers.contents() == same.contents());
  CHECK(numbers.contents() != Numbers({-5, 3, 7}).contents());
  CHECK(numbers.contents() != Numbers({3, -5, 7, 0}).contents());
  CHECK(numbers.contents() != Numbers(List{}).contents());
}

}  // namespace thinwire::inline gradient
