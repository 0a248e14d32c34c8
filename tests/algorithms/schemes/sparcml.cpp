#include "algorithms/schemes/sparcml.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::contains;
using test::Entries;
using test::error_of;
using test::exactly;
using test::formula;
using test::GivenOptions;
using test::Iteration;
using test::SchemeRanks;

namespace {

/// `count` entries of a rank, n/count apart, from the rank's number on: P ranks have nothing in
/// common if n/count is at least P.
SparseVector comb(std::int64_t n, std::int64_t count, int rank) {
  Entries entries;
  for (std::int64_t i = 0; i < count; ++i) {
    entries.push_back({static_cast<std::uint32_t>(i * (n / count) + rank), 1.0F});
  }
  return SparseVector::checked(entries);
}

struct Ran {
  double seconds = 0;
  std::int64_t words_sent = 0;  // of rank 0
  bool sparse = true;
};

Ran run_streams(const std::string& name, int ranks, std::int64_t n, std::int64_t k,
                const test::SchemeRanks::GradientOf& gradient, const GivenOptions& options = {}) {
  test::Networks networks;
  SchemeRanks scheme(find_scheme(name), ranks, {.components = n, .granule = 1}, k, options);
  const Iteration outcome = scheme.run(networks.alphabeta, 1, gradient);
  return {.seconds = outcome.report.makespan().value(),
          .words_sent = outcome.report.ranks[0].total().words_sent.value(),
          .sparse = std::holds_alternative<SparseVector>(outcome.results[0].sum)};
}

}  // namespace

TEST_CASE("ssar_split_allgather wins while the result is below delta, dsar above it") {
  constexpr int kRanks = 16;
  const std::int64_t n = 65'536;
  for (const std::int64_t k : {16, 256, 1024, 2048, 4096}) {
    CAPTURE(k);
    const auto gradient = [&](int rank) { return comb(n, k, rank); };
    const Ran fixed = run_streams("ssar_split_allgather", kRanks, n, k, gradient);
    const Ran dynamic = run_streams("dsar_split_allgather", kRanks, n, k, gradient);
    CHECK(fixed.sparse);
    CHECK_FALSE(dynamic.sparse);
    // Section 5.3: the split, then K pairs or n values; all evenly spread.
    const double share = 15.0 / 16;
    const double split = 2 * share * static_cast<double>(k) + 15;
    const auto result = static_cast<double>(kRanks * k);
    CHECK(fixed.seconds == exactly(formula(15 + 4, split + 2 * share * result + 15)));
    CHECK(dynamic.seconds == exactly(formula(15 + 4, split + share * static_cast<double>(n))));
    const std::int64_t delta = n / 2;
    if (kRanks * k < delta) CHECK(fixed.seconds < dynamic.seconds);
    if (kRanks * k > delta) CHECK(fixed.seconds > dynamic.seconds);
  }
}

TEST_CASE("Both sides of the crossover show at any P, with selections that overlap at random") {
  const std::int64_t n = 40'000;
  for (const int ranks : {2, 3, 7, 12, 23, 32}) {
    for (const std::int64_t wanted : {n / 200, n / 2, 2 * n}) {
      const auto gradient = [&](int rank) {
        return test::shaped_gradient(test::Shape::random, static_cast<std::uint32_t>(n), ranks,
                                     rank, 1, static_cast<int>(wanted / ranks));
      };
      std::set<std::uint32_t> reduced;  // by brute force
      for (int rank = 0; rank < ranks; ++rank) {
        const SparseVector mine = gradient(rank);
        for (const Entry& entry : mine.entries()) reduced.insert(entry.coordinate);
      }
      const double density = static_cast<double>(reduced.size()) / static_cast<double>(n);
      CAPTURE(ranks);
      CAPTURE(density);
      const double fixed = run_streams("ssar_split_allgather", ranks, n, n, gradient).seconds;
      const double dynamic = run_streams("dsar_split_allgather", ranks, n, n, gradient).seconds;
      if (density < 0.45) CHECK(fixed < dynamic);
      if (density > 0.55) CHECK(fixed > dynamic);
      CHECK(std::abs(density - 0.5) > 0.05);
    }
  }
}

TEST_CASE("topkdsa counts components, not coordinates, when it agrees on a dense result") {
  // 8 ranks select 250 coordinates of 4 components each, no two of them the same ones: 8000 of
  // 10,000 components, which are more than half of them.
  const GradientSpace space{.components = 10'000, .granule = 4};
  SchemeRanks all(find_scheme("topkdsa"), 8, space, 1000);
  test::Networks networks;
  const Iteration outcome =
      all.run(networks.counting, 1, [](int rank) { return comb(2500, 250, rank); });
  CHECK(std::holds_alternative<DenseBlock>(outcome.results.front().sum));
  for (const RankReport& rank : outcome.report.ranks) {
    CHECK(rank.total().words_received.value() < 2 * 1000 + 10'000);  // sparse regions: 14,000
  }
}

TEST_CASE("Recursive doubling stays sparse if static, and becomes dense above delta if dynamic") {
  constexpr int kRanks = 8;
  const std::int64_t n = 8000;
  const std::int64_t k = 500;  // messages of 500, 1000 and 2000 pairs, and a sum of 4000
  const auto gradient = [&](int rank) { return comb(n, k, rank); };
  const auto dynamic = [&](double delta) {
    return run_streams("dsar_recursive_double", kRanks, n, k, gradient, {{"delta", delta}});
  };
  const Ran fixed = run_streams("ssar_recursive_double", kRanks, n, k, gradient);
  CHECK(fixed.words_sent == 2 * 3500 + 3);
  CHECK(fixed.sparse);
  CHECK(dynamic(0.5).words_sent == 2 * 3500 + 3);
  CHECK(dynamic(0.5).sparse);
  CHECK_FALSE(dynamic(0.499).sparse);
  CHECK(dynamic(0.25).words_sent == 2 * 3500 + 3);
  CHECK(dynamic(0.2).words_sent == 2 * 1500 + n + 3);
  CHECK(dynamic(0.125).words_sent == 2 * 1500 + n + 3);
  CHECK(dynamic(0.12).words_sent == 2 * 500 + 2 * n + 3);
  CHECK(dynamic(0.0).words_sent == 3 * n + 3);
  // What is dense from the start costs the static scheme twice as much.
  const auto full = [&](int rank) {
    return test::full_gradient(static_cast<std::uint32_t>(n), rank, 1);
  };
  CHECK(run_streams("ssar_recursive_double", kRanks, n, n, full).words_sent == 6 * n + 3);
  CHECK(run_streams("dsar_recursive_double", kRanks, n, n, full).words_sent == 3 * n + 3);
}

TEST_CASE("Every stream has a marker, and messages whose representation is known have none") {
  constexpr int kRanks = 8;
  const std::int64_t n = 8000;
  const auto nothing = [](int) { return SparseVector(); };
  const auto words = [&](const char* name) {
    return run_streams(name, kRanks, n, 0, nothing).words_sent;
  };
  CHECK(words("ssar_recursive_double") == 3);
  CHECK(words("dsar_recursive_double") == 3);
  CHECK(words("ring_sparse") == 14);
  CHECK(words("ssar_split_allgather") == 7 + 7);
  CHECK(words("dsar_split_allgather") == 7 + 7 * n / 8);
  CHECK(words("topkdsa") == 7);  // sizes alone
}

TEST_CASE("delta is between 0 and 4 / (4 + 4), and static schemes have none") {
  const auto refused = [](const char* name, double delta) {
    return error_of<InputError>([&] {
      static_cast<void>(Options(find_scheme(name).options, {{"delta", OptionValue{delta}}}));
    });
  };
  for (const char* name : {"dsar_recursive_double", "ring_sparse"}) {
    CHECK(contains(refused(name, 0.51), "option 'delta' must be at most 0.5"));
    CHECK(contains(refused(name, -0.01), "option 'delta' must be at least 0"));
    CHECK(contains(refused(name, NAN), "option 'delta' must be at least 0"));
  }
  for (const char* name : {"ssar_recursive_double", "ssar_split_allgather"}) {
    CHECK(contains(refused(name, 0.5), "unknown option 'delta'"));
  }
}

TEST_CASE("Streams that switch early give the right sum within their interval") {
  for (const char* name : {"dsar_recursive_double", "ring_sparse"}) {
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks > 4) continue;
      for (const double delta : {0.0, 0.01, 0.1, 0.3}) {
        const GivenOptions options{{"delta", delta}};
        CAPTURE(std::string(name));
        CAPTURE(ranks);
        CAPTURE(delta);
        test::Networks networks;
        for (const std::int64_t k : {0, 24, 400}) {
          const test::Case c{.ranks = ranks, .space = {.components = 400, .granule = 1}, .k = k};
          CHECK(test::sparse_conforms(networks.alphabeta, name, c, options, 2));
        }
        for (const std::int64_t k : {10, 1000, 20'000}) {
          CAPTURE(k);
          const GradientSpace space{.components = 20'037, .granule = 1};
          const double gamma = 2 * test::kBeta.value();
          SchemeRanks scheme(find_scheme(name), ranks, space, k, options, Seconds(gamma));
          const auto gradient = [&](int rank) {
            return test::shaped_gradient(test::Shape::random, 20'037, ranks, rank, 1,
                                         static_cast<int>(2 * k));
          };
          const Iteration outcome = scheme.run(networks.alphabeta, 1, gradient);
          const Interval run =
              scheme.cost(1, test::selected_counts(outcome, find_scheme(name), 1)).run();
          const auto seconds = [&](const Terms& terms) {
            return formula(terms.messages, terms.words) + gamma * terms.reduced;
          };
          const double time = outcome.report.makespan().value();
          CHECK(time >= seconds(run.low) * (1 - 1e-9));
          CHECK(time <= seconds(run.high) * (1 + 1e-9));
        }
      }
    }
  }
}

}  // namespace thinwire::algorithms
