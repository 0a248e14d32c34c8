#include "algorithms/sparsifiers/hard_threshold.hpp"

#include <doctest/doctest.h>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

TEST_CASE("hard_threshold keeps the exact threshold of its first accumulator for ever") {
  SparsifierRanks ranks(hard_threshold_sparsifier(), {.k = 2, .ranks = 2});
  const SparseVector first = SparseVector::checked({{1, 3.0F}, {4, -5.0F}, {9, 1.0F}});
  CHECK(entries_of(ranks.select(first).selected) == Entries{{1, 3.0F}, {4, -5.0F}});
  const SparseVector larger =
      SparseVector::checked({{0, 30.0F}, {1, 3.0F}, {4, 2.9F}, {5, -4.0F}, {9, 10.0F}});
  CHECK(entries_of(ranks.select(larger, 2).selected) ==
        Entries{{0, 30.0F}, {1, 3.0F}, {5, -4.0F}, {9, 10.0F}});
  CHECK(size_of(ranks.select(SparseVector::checked({{1, 2.9F}}), 3)) == 0);
  // Each rank has its own, from the first accumulator that it sees.
  CHECK(size_of(ranks.select(larger, 4, 1)) == 2);
}

TEST_CASE("hard_threshold takes a threshold that is given") {
  SparsifierRanks ranks(hard_threshold_sparsifier(), {.k = 1, .options = {{"threshold", 2.5}}});
  const SparseVector accumulated =
      SparseVector::checked({{1, 2.5F}, {4, -2.6F}, {9, 2.4F}, {10, 7.0F}});
  const Selection selection = ranks.select(accumulated);
  CHECK(entries_of(selection.selected) == Entries{{1, 2.5F}, {4, -2.6F}, {10, 7.0F}});
  CHECK(test::operator==(selection.work, SelectionWork{.compared = 1000, .prefix_summed = 1000}));
}

TEST_CASE("hard_threshold takes the published threshold, 1/(2 sqrt(k))") {
  // The figures in the published script: k = 11,174 and 28,949.
  CHECK(published_threshold(11174) == test::approx(4.73e-3).epsilon(1e-3));
  CHECK(published_threshold(28949) == test::approx(2.939e-3).epsilon(1e-3));
  SparsifierRanks ranks(hard_threshold_sparsifier(), {.k = 25, .options = {{"published", true}}});
  const SparseVector accumulated = SparseVector::checked({{1, 0.11F}, {4, -0.1F}, {9, 0.09F}});
  CHECK(size_of(ranks.select(accumulated)) == 2);
  CHECK(size_of(ranks.select(SparseVector::checked({{1, 0.09F}}), 2)) == 0);
  SparsifierRanks none(hard_threshold_sparsifier(), {.k = 0, .options = {{"published", true}}});
  CHECK(size_of(none.select(accumulated)) == 0);
  CHECK_THROWS_AS(SparsifierRanks(hard_threshold_sparsifier(),
                                  {.k = 25, .options = {{"published", true}, {"threshold", 1.0}}}),
                  InputError);
}

TEST_CASE("hard_threshold sends everything for ever where less than k was held at first") {
  SparsifierRanks ranks(hard_threshold_sparsifier(), {.k = 5});
  CHECK(size_of(ranks.select(SparseVector::checked({{1, 2.5F}}))) == 1);
  CHECK(size_of(ranks.select(test::filled(100, [](std::int64_t) { return 0.1; }), 2)) == 100);
}

}  // namespace thinwire::algorithms
