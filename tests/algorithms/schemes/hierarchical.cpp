#include "algorithms/schemes/schemes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::below;
using test::exactly;
using test::formula;
using test::Generator;
using test::SchemeRanks;

namespace {

double seconds_of(const Terms& terms) { return formula(terms.messages, terms.words); }

DenseBlock zeros(const GradientSpace& space) {
  return {0, std::vector<float>(static_cast<std::size_t>(space.coordinates()))};
}

struct HierarchicalOutcome {
  Cost cost;
  Terms low;
  Terms high;
  RunReport report;
  double time = 0;
};

enum class NodeUse { leader, rails };

HierarchicalOutcome run(const std::string& name, int ranks, std::int64_t node, std::int64_t n,
                        Seconds gamma = Seconds(0), NodeUse use = NodeUse::leader) {
  const GradientSpace space{.components = n, .granule = std::max<std::int64_t>(1, n / 100)};
  test::Networks networks;
  SchemeRanks scheme(find_scheme(name), ranks, space, 0,
                     {{"node", node}, {"leader", use == NodeUse::leader}}, gamma);
  HierarchicalOutcome outcome;
  outcome.cost = scheme.cost(1);
  outcome.low = outcome.cost.counted.low + outcome.cost.added.low;
  outcome.high = outcome.cost.counted.high + outcome.cost.added.high;
  outcome.report = scheme.run(networks.alphabeta, 1, [&](int) { return zeros(space); }).report;
  outcome.time = outcome.report.makespan().value();
  return outcome;
}

}  // namespace

TEST_CASE("Hierarchical schemes give every rank the sum whatever the size of a node") {
  for (SchemeInfo& info : hierarchical_schemes()) {
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t node : {1, 2, 3, 5, 16, 100}) {
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(node);
        test::Networks networks;
        info.options.front().fallback = node;
        for (const bool leader : {false, true}) {
          CAPTURE(leader);
          info.options.back().fallback = leader;
          CHECK(test::dense_conforms(networks.alphabeta, info, ranks, {203, 1}));
          CHECK(test::dense_conforms(networks.counting, info, ranks, {203, 4}));
          CHECK(test::dense_conforms(networks.alphabeta, info, ranks, {5, 1}));
        }
      }
    }
  }
}

TEST_CASE("Leaders cost their formula exactly where nodes are alike") {
  for (const std::int64_t node : {1, 2, 4, 5, 8}) {
    for (const int nodes : {1, 2, 3, 4, 7, 8, 16}) {
      for (const std::int64_t n : {1, 10, 1000, 128037}) {
        const int ranks = static_cast<int>(node) * nodes;
        CAPTURE(node);
        CAPTURE(ranks);
        CAPTURE(n);
        const double height = test::ceil_log2(static_cast<int>(node));
        const auto words = static_cast<double>(n);
        const HierarchicalOutcome ring = run("hierarchical_ring", ranks, node, n);
        const std::int64_t piece = (n + nodes - 1) / nodes;
        CHECK(ring.cost.exact);
        CHECK(ring.time == exactly(seconds_of(ring.low)));
        CHECK(ring.low.messages == 2 * height + 2 * (nodes - 1));
        CHECK(ring.low.words ==
              test::approx(2 * height * words + static_cast<double>(2 * (nodes - 1) * piece)));
        const bool power_of_two = (nodes & (nodes - 1)) == 0;
        const HierarchicalOutcome rabenseifner = run("hierarchical_rabenseifner", ranks, node, n);
        const auto core = static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(nodes)));
        CHECK(rabenseifner.cost.exact == (power_of_two || n % core == 0));
        CHECK(rabenseifner.time == exactly(seconds_of(rabenseifner.low)));
        if (power_of_two) {
          CHECK(rabenseifner.low.messages == 2 * height + 2 * test::ceil_log2(nodes));
        }
      }
    }
  }
}

TEST_CASE("Hierarchical schemes take a time within their interval at any P, n and size of a node") {
  Generator generator(11);
  bool uneven = false;
  for (int i = 0; i < (test::kSanitized ? 200 : 2000); ++i) {
    const int ranks = 1 + static_cast<int>(below(generator, 70));
    const std::int64_t node = 1 + below(generator, 20);
    const std::int64_t n = 1 + below(generator, std::int64_t{1} << below(generator, 20));
    for (const std::string name : {"hierarchical_ring", "hierarchical_rabenseifner"}) {
      CAPTURE(name);
      CAPTURE(ranks);
      CAPTURE(node);
      CAPTURE(n);
      const NodeUse use = i % 2 == 0 ? NodeUse::leader : NodeUse::rails;
      CAPTURE(i);
      const HierarchicalOutcome outcome = run(name, ranks, node, n, Seconds(0), use);
      CHECK(outcome.time >= seconds_of(outcome.low) * (1 - 1e-9));
      CHECK(outcome.time <= seconds_of(outcome.high) * (1 + 1e-9));
      if (outcome.cost.exact) CHECK(outcome.time == exactly(seconds_of(outcome.low)));
      uneven = uneven || !outcome.cost.exact;
    }
  }
  CHECK(uneven);
}

TEST_CASE("A node of one rank or of all is the flat scheme or a tree") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    const GradientSpace space{.components = 1000, .granule = 10};
    const auto flat = [&](const char* name) {
      test::Networks networks;
      SchemeRanks scheme(find_scheme(name), ranks, space, 0);
      return scheme.run(networks.alphabeta, 1, [&](int) { return zeros(space); })
          .report.makespan()
          .value();
    };
    CHECK(run("hierarchical_ring", ranks, 1, 1000).time == exactly(flat("dense_ring")));
    CHECK(run("hierarchical_rabenseifner", ranks, 1, 1000).time ==
          exactly(flat("dense_rabenseifner")));
    const double height = test::ceil_log2(ranks);
    for (const std::int64_t node : {std::int64_t{64}, std::int64_t{1} << 40}) {
      CHECK(run("hierarchical_ring", ranks, node, 1000).time ==
            exactly(formula(2 * height, 2000 * height)));
    }
  }
}

TEST_CASE("Schemes over rails cost their formula exactly where nodes and pieces are alike") {
  for (const std::int64_t node : {1, 2, 4, 5, 8}) {
    for (const int nodes : {1, 2, 3, 4, 8}) {
      const int ranks = static_cast<int>(node) * nodes;
      const std::int64_t n = 960 * node;
      CAPTURE(node);
      CAPTURE(ranks);
      const auto words = static_cast<double>(n);
      const auto inside = static_cast<double>(2 * (node - 1));
      const HierarchicalOutcome ring =
          run("hierarchical_ring", ranks, node, n, Seconds(0), NodeUse::rails);
      CHECK(ring.cost.exact);
      CHECK(ring.time == exactly(seconds_of(ring.low)));
      CHECK(ring.low.messages == inside + 2 * (nodes - 1));
      CHECK(ring.low.words == test::approx(2 * words * (ranks - 1) / ranks));
      const HierarchicalOutcome rabenseifner =
          run("hierarchical_rabenseifner", ranks, node, n, Seconds(0), NodeUse::rails);
      CHECK(rabenseifner.cost.exact);
      CHECK(rabenseifner.time == exactly(seconds_of(rabenseifner.low)));
    }
  }
}

TEST_CASE("Over rails each rank carries its part between nodes") {
  const HierarchicalOutcome outcome =
      run("hierarchical_ring", 8, 4, 800, Seconds(0), NodeUse::rails);
  CHECK(outcome.time == exactly(formula(8, 1400)));  // the worked example
  const auto at = std::ranges::find(outcome.report.phases, "along_rails");
  REQUIRE(at != outcome.report.phases.end());
  for (const RankReport& rank : outcome.report.ranks) {
    const Traffic& along =
        rank.by_phase[static_cast<std::size_t>(at - outcome.report.phases.begin())];
    CHECK(along.words_sent == Words(200));
  }
}

TEST_CASE("The phases of a hierarchical scheme cost what its comment says of each") {
  const HierarchicalOutcome outcome = run("hierarchical_ring", 8, 4, 800);
  CHECK(outcome.time == exactly(formula(6, 4000)));  // the worked example
  const auto traffic = [&](std::size_t rank, const std::string& phase) {
    const auto& phases = outcome.report.phases;
    const auto at = std::ranges::find(phases, phase) - phases.begin();
    const auto& books = outcome.report.ranks[rank].by_phase;
    return std::cmp_less(at, books.size()) ? books[static_cast<std::size_t>(at)] : Traffic{};
  };
  CHECK(traffic(4, "reduce_in_node").time.value() == exactly(formula(2, 1600)));
  CHECK(traffic(4, "among_leaders").time.value() == exactly(formula(2, 800)));
  CHECK(traffic(4, "broadcast_in_node").time.value() == exactly(formula(2, 1600)));
  CHECK(traffic(5, "among_leaders").messages_sent == 0);
  CHECK(traffic(5, "broadcast_in_node").words_received == Words(800));
}

TEST_CASE("Hierarchical schemes charge for the sums inside nodes and among leaders") {
  constexpr double kGamma = 2.5e-10;
  for (const int nodes : {1, 2, 8}) {
    for (const int node : {1, 2, 8}) {
      CAPTURE(nodes);
      CAPTURE(node);
      const double n = 64000;
      const double words = n * test::ceil_log2(node) + n * (nodes - 1) / nodes;
      for (const char* name : {"hierarchical_ring", "hierarchical_rabenseifner"}) {
        const HierarchicalOutcome outcome = run(name, nodes * node, node, 64000, Seconds(kGamma));
        CHECK(outcome.time - seconds_of(outcome.low) ==
              test::approx(kGamma * words).epsilon(1e-6).scale(1e-12));
      }
    }
  }
}

}  // namespace thinwire::algorithms
