#include "algorithms/schemes/schemes.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::below;
using test::formula;
using test::Generator;
using test::SchemeRanks;

namespace {

double seconds(const Terms& terms) { return formula(terms.messages, terms.words); }

struct DenseTreeOutcome {
  Terms low;
  Terms high;
  double time;
};

DenseTreeOutcome run(const std::string& name, int ranks, std::int64_t n,
                     const std::map<std::string, OptionValue>& options) {
  const GradientSpace space{.components = n, .granule = n};
  test::Networks networks;
  SchemeRanks scheme(find_scheme(name), ranks, space, 0, options);
  const Cost cost = scheme.cost(1);
  const auto zero = [](int) { return DenseBlock(0, std::vector<float>(1)); };
  return {.low = cost.counted.low + cost.added.low,
          .high = cost.counted.high + cost.added.high,
          .time = scheme.run(networks.alphabeta, 1, zero).report.makespan().value()};
}

}  // namespace

TEST_CASE("dense_double_tree takes a time within its interval at random lengths and chunks") {
  Generator generator(5);
  for (const int ranks : test::kRankCounts) {
    for (int i = 0; i < 20; ++i) {
      const std::int64_t n = 1 + below(generator, std::int64_t{1} << below(generator, 22));
      const std::int64_t chunk_words = i % 4 == 0 ? 0 : 1 + n / (1 + below(generator, 100));
      CAPTURE(ranks);
      CAPTURE(n);
      CAPTURE(chunk_words);
      const DenseTreeOutcome outcome =
          run("dense_double_tree", ranks, n, {{"chunk_words", chunk_words}});
      CHECK(outcome.time >= seconds(outcome.low) * (1 - 1e-9));
      CHECK(outcome.time <= seconds(outcome.high) * (1 + 1e-9));
    }
  }
}

TEST_CASE("The worked example of dense_double_tree is right") {
  const DenseTreeOutcome outcome =
      run("dense_double_tree", 7, 8000, {{"chunk_words", std::int64_t{1000}}});
  CHECK(outcome.low.messages == 16);
  CHECK(outcome.low.words == 16000);
  CHECK(outcome.high.messages == 24);
  CHECK(outcome.high.words == 24000);
}

TEST_CASE("dense_double_tree has a tree's latency and a ring's bandwidth") {
  for (const int ranks : {64, 100, 256}) {
    CAPTURE(ranks);
    CHECK(4 * run("dense_double_tree", ranks, 1000, {}).time <
          run("dense_ring", ranks, 1000, {}).time);
    const std::int64_t n = 100'000'000;
    CHECK(run("dense_double_tree", ranks, n, {}).time < 1.1 * run("dense_ring", ranks, n, {}).time);
  }
}

}  // namespace thinwire::algorithms
