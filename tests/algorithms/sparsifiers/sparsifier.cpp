// What holds for every sparsifier.
#include "algorithms/sparsifiers/sparsifier.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "algorithms/registry.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::SparsifierRanks;

namespace {

/// Entries of the accumulator, and nothing else; random_k adds zeros where it holds nothing.
bool is_part_of(const SparseVector& selected, const SparseVector& accumulated, bool with_zeros) {
  const Entries held = entries_of(accumulated);
  test::Oracle values;
  for (const Entry& entry : held) values[entry.coordinate] = entry.value;
  for (const Entry& entry : selected.entries()) {
    const auto found = values.find(entry.coordinate);
    if (found == values.end() ? !with_zeros || entry.value != 0 : entry.value != found->second) {
      return false;
    }
  }
  return true;
}

bool in_order(const SparseVector& vector) {
  const auto entries = vector.entries();
  return std::ranges::adjacent_find(entries, [](const Entry& a, const Entry& b) {
           return a.coordinate >= b.coordinate;
         }) == entries.end();
}

std::vector<SparseVector> inputs(const GradientSpace& space) {
  const auto coordinates = static_cast<std::uint32_t>(space.coordinates());
  return {SparseVector(),
          SparseVector::checked({{coordinates - 1, -2.5F}}),
          test::shaped_gradient(test::Shape::random, coordinates, 1, 0, 1, 90),
          test::full_gradient(coordinates, 0, 1),
          test::filled(space.coordinates(), [](std::int64_t i) { return i % 2 == 0 ? 3 : -3; }),
          test::filled(space.coordinates(), [](std::int64_t) { return 0; })};
}

}  // namespace

TEST_CASE("Every sparsifier says what it is") {
  std::set<std::string> names;
  for (const SparsifierInfo& info : all_sparsifiers()) {
    CAPTURE(info.name);
    names.insert(info.name);
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.source.empty());
    for (const OptionInfo& option : info.options) CHECK_FALSE(option.help.empty());
    CHECK_NOTHROW(Options(info.options, {}));
  }
  CHECK(names == std::set<std::string>{"exact_topk", "threshold_reuse", "gaussian", "dgc",
                                       "hard_threshold", "sidco", "random_k", "dragonn_hash",
                                       "exdyna", "bucket_topk", "block_topk", "mstopk", "micro",
                                       "deft"});
}

TEST_CASE("Every sparsifier selects entries of the accumulator, in order and repeatably") {
  for (const SparsifierInfo& info : all_sparsifiers()) {
    for (const GradientSpace space : {GradientSpace{400, 1}, GradientSpace{1602, 4}}) {
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{24}, space.coordinates()}) {
        const SparsifierRanks::Settings settings{
            .space = space, .k = k * space.granule, .ranks = 3, .seed = 7};
        for (const SparseVector& accumulated : inputs(space)) {
          CAPTURE(info.name);
          CAPTURE(space.granule);
          CAPTURE(k);
          CAPTURE(accumulated.size());
          SparsifierRanks one(info, settings);
          SparsifierRanks other(info, settings);
          for (const int iteration : {1, 2, 3}) {
            for (const int rank : {0, 2}) {
              const Selection selection = one.select(accumulated, iteration, rank);
              const Selection again = other.select(accumulated, iteration, rank);
              CHECK(is_part_of(selection.selected, accumulated, info.name == "random_k"));
              CHECK(in_order(selection.selected));
              CHECK(entries_of(selection.selected) == entries_of(again.selected));
              CHECK(test::operator==(selection.work, again.work));
              CHECK((selection.slots == 0 || selection.slots >= test::size_of(selection)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("No sparsifier selects anything for k = 0") {
  for (const SparsifierInfo& info : all_sparsifiers()) {
    for (const GradientSpace space : {GradientSpace{400, 1}, GradientSpace{1602, 4}}) {
      for (const SparseVector& accumulated : inputs(space)) {
        CAPTURE(info.name);
        SparsifierRanks ranks(info, {.space = space, .k = 0});
        CHECK(ranks.select(accumulated).selected.size() == 0);
        CHECK(ranks.select(accumulated, 2).selected.size() == 0);
      }
    }
  }
}

TEST_CASE("For k = n whatever counts exactly selects all that is held") {
  constexpr GradientSpace kSpace{.components = 400, .granule = 1};
  for (const SparsifierInfo& info : all_sparsifiers()) {
    // Estimates: a sample, a fit with a mean that is not 0, and slots on which indexes meet.
    if (info.name == "dgc" || info.name == "dragonn_hash" || info.name == "gaussian") continue;
    CAPTURE(info.name);
    SparsifierRanks ranks(info, {.space = kSpace, .k = 400});
    const SparseVector accumulated = test::full_gradient(400, 0, 1);
    CHECK(entries_of(ranks.select(accumulated).selected) == entries_of(accumulated));
  }
}

}  // namespace thinwire::algorithms
