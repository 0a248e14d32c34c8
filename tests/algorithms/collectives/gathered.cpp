#include "algorithms/collectives/gathered.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;

namespace {

constexpr GradientSpace kSpace{.components = 100, .granule = 1};

/// Joined in the given order of ranks.
Concatenation gathered(const std::vector<Message>& messages, const std::vector<int>& order) {
  const auto leaf = [&](int rank) {
    return Concatenation::of(Rank(rank), messages[static_cast<std::size_t>(rank)]);
  };
  Concatenation all = leaf(order[0]);
  for (std::size_t i = 1; i < order.size(); ++i) all = Concatenation::join(all, leaf(order[i]));
  return all;
}

}  // namespace

TEST_CASE("What was gathered is summed once for all ranks, whatever order they have it in") {
  const std::vector messages{SparseVector::checked({{1, 16777216.0F}}).message(kSpace),
                             SparseVector::checked({{1, 1.0F}, {3, 4.0F}}).message(kSpace),
                             SparseVector().message(kSpace),
                             SparseVector::checked({{1, -16777216.0F}}).message(kSpace)};
  SharedWork shared(10);
  for (const std::vector<int>& order :
       {std::vector{0, 1, 2, 3}, std::vector{3, 2, 1, 0}, std::vector{1, 3, 0, 2}}) {
    // Floats show the order of adding: the order of the ranks.
    CHECK(entries_of(sum_of_gathered(gathered(messages, order), shared)) ==
          Entries{{1, 0.0F}, {3, 4.0F}});
  }
  CHECK(shared.computed() == 1);
}

TEST_CASE("Vectors and numbers that were gathered are put together by rank") {
  const std::vector vectors{SparseVector::checked({{1, 1.0F}, {2, 2.0F}}).message(kSpace),
                            SparseVector().message(kSpace),
                            SparseVector::checked({{7, 7.0F}}).message(kSpace)};
  const std::vector numbers{Numbers({5}).message(), Numbers({6, 7}).message(),
                            Numbers({8}).message()};
  SharedWork shared(10);
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, std::vector{2, 0, 1}}) {
    CHECK(entries_of(concatenation_of_gathered(gathered(vectors, order), shared)) ==
          Entries{{1, 1.0F}, {2, 2.0F}, {7, 7.0F}});
    const auto all = numbers_of_gathered(gathered(numbers, order), shared).all();
    CHECK(std::vector<std::int64_t>(all.begin(), all.end()) ==
          std::vector<std::int64_t>{5, 6, 7, 8});
  }
  CHECK(shared.computed() == 2);
}

TEST_CASE("The sum and the concatenation of what was gathered are not mixed up") {
  const std::vector messages{SparseVector::checked({{1, 1.0F}}).message(kSpace),
                             SparseVector::checked({{1, 2.0F}}).message(kSpace)};
  const Concatenation all = gathered(messages, {0, 1});
  SharedWork shared(10);
  CHECK(sum_of_gathered(all, shared).size() == 1);
  CHECK(concatenation_of_gathered(all, shared).size() == 2);
}

}  // namespace thinwire::algorithms
