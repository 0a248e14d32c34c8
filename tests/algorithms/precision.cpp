// The bits of values and indexes change the length of messages, and nothing else.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"
#include "traces/synthetic.hpp"

namespace thinwire::algorithms {

using test::Case;
using test::exactly;
using test::formula;
using test::Iteration;
using test::SchemeRanks;

namespace {

constexpr Precision kBf16{.value_bits = 16, .index_bits = 32};
constexpr Precision kBf16Long{.value_bits = 16, .index_bits = 64};
constexpr Precision kLong{.value_bits = 32, .index_bits = 64};

double precise_seconds(const Terms& terms) {
  return formula(terms.messages, terms.words) + terms.seconds;
}

GradientSpace space_at(Precision precision, std::int64_t components, std::int64_t granule = 1) {
  return {.components = components, .granule = granule, .precision = precision};
}

/// The words that rank `by` receives in one iteration of gradients of the given space.
std::int64_t words_received(const std::string& name, int by, int ranks, const GradientSpace& space,
                            std::int64_t k, const test::GivenOptions& options = {}) {
  const SchemeInfo& info = find_scheme(name);
  const traces::SyntheticSource source({.ranks = ranks, .space = space, .k = k});
  test::Networks networks;
  SchemeRanks scheme(info, ranks, space, k, options);
  const Iteration outcome = scheme.run(networks.counting, 1, [&](int rank) -> LocalGradient {
    if (info.dense) return source.dense(Rank(rank), 1);
    return source.sparse(Rank(rank), 1);
  });
  return outcome.report.ranks[static_cast<std::size_t>(by)].total().words_received.value();
}

}  // namespace

TEST_CASE("Entries, values and indexes have the words of their bits, rounded up") {
  const GradientSpace half = space_at(kBf16Long, 1000, 4);
  CHECK(half.value_words(3) == Words(2));
  CHECK(half.index_words(3) == Words(6));
  CHECK(half.entry_words(3) == Words(8));  // 3 (16 + 64) bits
  CHECK(half.coo_words(3) == Words(30));   // of granules of 4
  CHECK(half.precision.dense_above() == test::approx(0.2));
  const GradientSpace whole{.components = 1000, .granule = 4};
  CHECK(whole.value_words(3) == Words(3));
  CHECK(whole.coo_words(3) == Words(24));
  CHECK(whole.precision.dense_above() == 0.5);
}

TEST_CASE("Counted words are the words of the values and indexes that the papers' schedules send") {
  const std::int64_t n = 64'000;
  const std::int64_t k = 640;
  const int ranks = 8;
  const auto words = [&](const std::string& name, Precision precision) {
    return words_received(name, 0, ranks, space_at(precision, n), k);
  };
  for (const Precision precision : {Precision{}, kBf16, kBf16Long, kLong}) {
    CAPTURE(precision.value_bits);
    CAPTURE(precision.index_bits);
    const double value = precision.value_bits / 32.0;
    const double index = precision.index_bits / 32.0;
    // A value for every component, twice, but for an eighth.
    CHECK(static_cast<double>(words("dense_ring", precision)) == 2 * value * n * 7 / 8);
    CHECK(static_cast<double>(words("dense_rabenseifner", precision)) == 2 * value * n * 7 / 8);
    CHECK(static_cast<double>(words("dense_recursive_doubling", precision)) == 3 * value * n);
    // k indexes and values of 7 ranks.
    CHECK(static_cast<double>(words("topka", precision)) == 7 * k * (value + index));
    // The values at the indexes of rank 0, which receives no indexes; the others receive them too.
    const double values = 2 * value * k * 7 / 8;
    CHECK(static_cast<double>(words("cltk", precision)) == values);
    CHECK(static_cast<double>(words_received("cltk", 7, ranks, space_at(precision, n), k)) ==
          index * k + values);
    // Quantised values have the bits of their scheme.
    CHECK(words("signsgd", precision) == words("signsgd", Precision{}));
    CHECK(words("quantised_alltoall", precision) == words("quantised_alltoall", Precision{}));
  }
}

TEST_CASE("Every scheme has the same result at any precision") {
  for (const Precision precision : {kBf16, kBf16Long}) {
    for (const int ranks : {1, 3, 8, 12}) {
      for (const SchemeInfo& info : all_schemes()) {
        if (info.own_format) continue;  // refused by points
        CAPTURE(info.name);
        CAPTURE(ranks);
        test::Networks networks;
        if (info.dense) {
          if (info.approximate) continue;
          CHECK(test::dense_conforms(networks.alphabeta, info, ranks, space_at(precision, 1003)));
          continue;
        }
        const Case c{.ranks = ranks, .space = space_at(precision, 4000, 4), .k = 80};
        CHECK(test::sparse_conforms(networks.alphabeta, info.name, c, test::short_periods_of(info),
                                    2));
      }
    }
  }
}

TEST_CASE("Short values widen an interval by two words for each message and each rank at most") {
  for (const int ranks : {2, 3, 8, 23}) {
    for (const SchemeInfo& info : all_schemes()) {
      if (info.own_format) continue;
      CAPTURE(info.name);
      CAPTURE(ranks);
      const auto run_at = [&](Precision precision) {
        SchemeRanks scheme(info, ranks, space_at(precision, 24'003), info.dense ? 0 : 640);
        return scheme.cost(1).run();
      };
      const auto narrow = run_at(kBf16);
      const auto wide = run_at({});
      const double width = narrow.high.words - narrow.low.words;
      CHECK(width <= wide.high.words - wide.low.words + 2 * (wide.high.messages + ranks) + 1e-6);
    }
  }
}

TEST_CASE("Every scheme costs its formula at any precision") {
  for (const Precision precision : {kBf16, kBf16Long, kLong}) {
    for (const int ranks : {1, 2, 3, 7, 8, 12, 23}) {
      for (const SchemeInfo& info : all_schemes()) {
        if (info.own_format) continue;  // refused by points
        for (const std::int64_t k : {0, 64, 640}) {
          if (info.dense && k > 0) continue;
          CAPTURE(info.name);
          CAPTURE(ranks);
          CAPTURE(k);
          CAPTURE(precision.value_bits);
          CAPTURE(precision.index_bits);
          const GradientSpace space = space_at(precision, 24'003);
          const traces::SyntheticSource source({.ranks = ranks, .space = space, .k = k});
          test::Networks networks;
          SchemeRanks scheme(info, ranks, space, k);
          const Iteration outcome =
              scheme.run(networks.alphabeta, 1, [&](int rank) -> LocalGradient {
                if (info.dense) return source.dense(Rank(rank), 1);
                return source.sparse(Rank(rank), 1);
              });
          std::optional<SelectedCounts> selected;
          std::optional<std::int64_t> result;
          if (!info.dense) {
            selected = test::selected_counts(outcome, info, 1);
            const auto* sum = std::get_if<SparseVector>(&outcome.results.front().sum);
            if (sum != nullptr) result = static_cast<std::int64_t>(sum->size());
          }
          const Cost cost = scheme.cost(1, selected, result);
          const double time = outcome.report.makespan().value();
          CHECK(time >= precise_seconds(cost.run().low) * (1 - 1e-9));
          CHECK(time <= precise_seconds(cost.run().high) * (1 + 1e-9));
          if (cost.exact) CHECK(time == exactly(precise_seconds(cost.run().low)));
        }
      }
    }
  }
}

}  // namespace thinwire::algorithms
