#include "algorithms/sparsifiers/block_topk.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/gradients.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::Entries;

namespace {

SchemeSetup block_setup(std::int64_t n, std::int64_t k, int ranks, std::int64_t granule = 1) {
  return {.ranks = ranks, .space = {.components = n, .granule = granule}, .k = k};
}

Selection selection_of_blocks(const SchemeSetup& setup, const SparseVector& from) {
  return block_topk_sparsifier().make(setup)->select(from, Rank(0), 1);
}

}  // namespace

TEST_CASE("block_topk selects the example of its comment") {
  const auto from = SparseVector::checked({{0, 1.0F}, {1, -5.0F}, {2, 3.0F}, {6, 2.0F}});
  const Selection selection = selection_of_blocks(block_setup(8, 2, 2), from);
  CHECK(test::entries_of(selection.selected) == Entries{{1, -5.0F}, {6, 2.0F}});
  REQUIRE(selection.blocks.size() == 2);
  CHECK(test::entries_of(selection.blocks[1]) == Entries{{6, 2.0F}});
  CHECK(selection.work.sorted == 8);
}

TEST_CASE("block_topk selects what sorting each block does, k entries in all") {
  for (const int ranks : {1, 3, 7, 12}) {
    for (const std::int64_t k : {0, 1, 50, 400}) {
      const SparseVector from = test::full_gradient(400, 0, 1);
      const Selection selection = selection_of_blocks(block_setup(400, k, ranks), from);
      Entries wanted;
      for (int block = 0; block < ranks; ++block) {
        const auto begin = [&](int of) { return 400 / ranks * of + std::min(of, 400 % ranks); };
        const std::int64_t share = k / ranks + (block < k % ranks ? 1 : 0);
        Entries inside;
        for (const Entry& entry : from.entries()) {
          const auto at = static_cast<int>(entry.coordinate);
          if (at >= begin(block) && at < begin(block + 1)) inside.push_back(entry);
        }
        const Entries best = test::top(inside, share);
        wanted.insert(wanted.end(), best.begin(), best.end());
        CHECK(test::entries_of(selection.blocks[static_cast<std::size_t>(block)]) == best);
      }
      CAPTURE(ranks);
      CAPTURE(k);
      CHECK(test::entries_of(selection.selected) == wanted);
      CHECK(wanted.size() == static_cast<std::size_t>(k));
    }
  }
}

TEST_CASE("With teams there is a block for each rank of a team") {
  SchemeSetup setup = block_setup(400, 40, 8);
  setup.options =
      Options({{.name = kTeamsOption, .fallback = std::int64_t{4}, .minimum = 1, .help = "d"}}, {});
  CHECK(selection_of_blocks(setup, test::full_gradient(400, 0, 1)).blocks.size() == 2);
}

}  // namespace thinwire::algorithms
