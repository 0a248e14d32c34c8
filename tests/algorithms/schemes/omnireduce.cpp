// OmniReduce's blocks, streams and rounds. The oracle of the words is a count over all blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

namespace {

test::GivenOptions blocks_of(std::int64_t block, std::int64_t streams, bool contiguous) {
  return {{"block", block}, {"streams", streams}, {"contiguous", contiguous}};
}

}  // namespace

TEST_CASE("omnireduce sums selections whatever its blocks, streams and aggregators are") {
  for (const int ranks : {1, 2, 3, 7, 8, 12, 23}) {
    for (const test::Shape shape : test::kShapes) {
      for (const std::int64_t k : {0, 1, 24, 400}) {
        for (const std::int64_t streams : {1, 2, 1000}) {
          const test::Case c{
              .ranks = ranks, .space = {.components = 401, .granule = 1}, .k = k, .shape = shape};
          CAPTURE(c.text());
          CAPTURE(streams);
          test::Networks networks;
          const bool contiguous = streams == 2;
          CHECK(test::sparse_conforms(networks.alphabeta, "omnireduce", c,
                                      blocks_of(8, streams, contiguous), 2));
          CHECK(test::sparse_conforms(networks.counting, "omnireduce", c,
                                      blocks_of(1, streams, !contiguous), 1));
        }
      }
    }
  }
}

TEST_CASE("omnireduce sends its non-zero blocks and the sums of all ranks', and first blocks") {
  constexpr std::int64_t kBlock = 8;
  constexpr std::int64_t kComponents = 800;  // 100 blocks
  for (const int ranks : {2, 5, 10}) {
    for (const std::int64_t streams : {1, 3}) {
      const test::Case c{.ranks = ranks,
                         .space = {.components = kComponents, .granule = 1},
                         .k = 24,
                         .shape = test::Shape::skewed};
      test::SchemeRanks all(find_scheme("omnireduce+exact_topk"), ranks, c.space, c.k,
                            blocks_of(kBlock, streams, false));
      test::Networks networks;
      const auto outcome =
          all.run(networks.alphabeta, 1, [&](int rank) { return c.gradient(rank, 1); });
      // Blocks below ranks * streams are the first ones of a stream.
      std::vector<std::set<std::int64_t>> sent(static_cast<std::size_t>(ranks));
      std::set<std::int64_t> summed;
      for (int rank = 0; rank < ranks; ++rank) {
        auto& own = sent[static_cast<std::size_t>(rank)];
        for (std::int64_t block = 0; block < ranks * streams; ++block) own.insert(block);
        const auto& selected =
            std::get<SparseVector>(outcome.results[static_cast<std::size_t>(rank)].contributed);
        for (const Entry& entry : selected.entries()) own.insert(entry.coordinate / kBlock);
        summed.insert(own.begin(), own.end());
      }
      for (int rank = 0; rank < ranks; ++rank) {
        std::int64_t blocks = 0;
        for (const std::int64_t block : sent[static_cast<std::size_t>(rank)]) {
          blocks += block % ranks != rank ? 1 : 0;
        }
        for (const std::int64_t block : summed) blocks += block % ranks == rank ? ranks - 1 : 0;
        CAPTURE(ranks);
        CAPTURE(rank);
        const auto& report = outcome.report.ranks[static_cast<std::size_t>(rank)];
        CHECK(report.total().words_sent.value() == blocks * (kBlock + 2));
      }
    }
  }
}

TEST_CASE("omnireduce costs what its worked example says, and rounds for few streams") {
  test::Networks networks;
  const auto time = [&](std::int64_t streams, std::int64_t block = 256) {
    test::SchemeRanks all(find_scheme("omnireduce"), 2, {.components = 1024, .granule = 1}, 1024,
                          blocks_of(block, streams, false));
    return all
        .run(networks.alphabeta, 1, [](int rank) { return test::full_gradient(1024, rank, 1); })
        .report.makespan()
        .value();
  };
  CHECK(time(256) == test::exactly(test::formula(2, 4 * 258)));
  CHECK(time(1) == test::exactly(test::formula(4, 4 * 258)));
  // More streams than blocks, and blocks longer than all: as many as there are.
  CHECK(time(std::int64_t{1} << 32U) == time(1024));
  CHECK(time(256, std::int64_t{1} << 32U) == time(256, 1024));
}

}  // namespace thinwire::algorithms
