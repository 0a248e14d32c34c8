// Holds ring_topk against a serial program, with what Thinwire tests its own schemes with.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "ring_topk.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/gradients.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

using namespace thinwire;
using namespace thinwire::algorithms;
using namespace thinwire::test;

namespace {

/// Entries of the components [first, last).
Entries within(const Entries& entries, std::int64_t first, std::int64_t last) {
  Entries kept;
  for (const Entry& entry : entries) {
    if (entry.coordinate >= first && entry.coordinate < last) kept.push_back(entry);
  }
  return kept;
}

Entries added(const Entries& a, const Entries& b) {
  Oracle sum;
  for (const Entry& entry : a) sum[entry.coordinate] += entry.value;
  for (const Entry& entry : b) sum[entry.coordinate] += entry.value;
  return entries_of(sum);
}

/// What ring_topk gives: region i is summed from rank i+1 on, around to rank i.
Entries serial_ring_topk(const std::vector<Entries>& selected, std::int64_t n, std::int64_t k) {
  const auto ranks = static_cast<std::int64_t>(selected.size());
  const std::int64_t room = (k + ranks - 1) / ranks;
  Entries result;
  for (std::int64_t region = 0; region < ranks; ++region) {
    Entries held;
    for (std::int64_t step = 1; step <= ranks; ++step) {
      const auto rank = static_cast<std::size_t>((region + step) % ranks);
      const Entries mine =
          within(selected[rank], part_begin(n, ranks, region), part_begin(n, ranks, region + 1));
      held = top(added(held, mine), room);
    }
    result.insert(result.end(), held.begin(), held.end());
  }
  return result;
}

SchemeInfo composed() { return compose(ring_topk_scheme(), find_sparsifier("exact_topk")); }

}  // namespace

TEST_CASE("Every rank gets the sum of a serial program, at any P, for any shape of gradients") {
  constexpr std::int64_t kComponents = 2000;
  for (const int ranks : kRankCounts) {
    for (const Shape shape : kShapes) {
      for (const std::int64_t k : {0, 1, 40}) {
        CAPTURE(ranks);
        CAPTURE(name_of(shape));
        CAPTURE(k);
        const auto gradient = [&](int rank) {
          return shaped_gradient(shape, kComponents, ranks, rank, 1, 60);
        };
        std::vector<Entries> selected;
        for (int rank = 0; rank < ranks; ++rank) {
          selected.push_back(top(entries_of(gradient(rank)), k));
        }
        const Entries expected = serial_ring_topk(selected, kComponents, k);

        SchemeRanks scheme(composed(), ranks, {kComponents, 1}, k);
        Networks networks;
        const Iteration outcome = scheme.run(networks.alphabeta, 1, gradient);
        for (std::size_t rank = 0; rank < outcome.results.size(); ++rank) {
          const Reduced& result = outcome.results[rank];
          CHECK(entries_of(std::get<SparseVector>(result.sum)) == expected);
          CHECK(entries_of(std::get<SparseVector>(result.contributed)) ==
                with_coordinates_in(selected[rank], expected));
        }
      }
    }
  }
}

TEST_CASE("A run costs what the cost model says") {
  for (const int ranks : kRankCounts) {
    for (const Shape shape : kShapes) {
      for (const std::int64_t k : {40, 41}) {
        CAPTURE(ranks);
        CAPTURE(name_of(shape));
        SchemeRanks scheme(composed(), ranks, {2000, 1}, k);
        Networks networks;
        const Iteration outcome = scheme.run(networks.alphabeta, 1, [&](int rank) {
          return shaped_gradient(shape, 2000, ranks, rank, 1, 60);
        });
        const Cost cost = scheme.cost(1, selected_counts(outcome, composed(), 1));
        const auto seconds = [](Terms terms) { return formula(terms.messages, terms.words); };
        CHECK(outcome.report.makespan().value() >= seconds(cost.run().low) * (1 - 1e-9));
        CHECK(outcome.report.makespan().value() <= seconds(cost.run().high) * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("With evenly spread selections the cost is the upper end") {
  // Every rank selects all: pieces are full from the first step on.
  constexpr int kRanks = 7;
  SchemeRanks scheme(composed(), kRanks, {700, 1}, 70);
  Networks networks;
  const Iteration outcome = scheme.run(networks.alphabeta, 1, [](int rank) {
    Entries entries;  // 10 in each region
    for (std::uint32_t i = 0; i < 70; ++i) {
      entries.push_back({10 * i + static_cast<std::uint32_t>(rank), 1.0F});
    }
    return SparseVector::checked(entries);
  });
  CHECK(outcome.report.makespan().value() == exactly(formula(12, 4 * 10 * 6)));
}
