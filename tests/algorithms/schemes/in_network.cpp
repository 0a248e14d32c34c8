// dense_in_network on the α-β machine: its result, and its time against the formula.
#include "algorithms/schemes/in_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::exactly;
using test::formula;
using test::GivenOptions;
using test::SchemeRanks;

namespace {

GivenOptions in_nodes(std::int64_t node, std::int64_t chunks) {
  return {{"node", node}, {"chunks", chunks}};
}

Task<void> sum_zeros(Communicator& comm, Scheme& scheme, std::int64_t n) {
  const DenseBlock zeros(0, std::vector<float>(static_cast<std::size_t>(n)));
  Task<Reduced> task = scheme.allreduce(comm, zeros, 1);
  static_cast<void>(co_await std::move(task));
}

/// The setup of a run on a machine with the given switches.
struct SwitchRun {
  int ranks;
  std::int64_t n;
  GivenOptions options;
  ReducingSwitches switches = test::kSwitches;

  [[nodiscard]] double time() const {
    networks::AlphaBetaNetwork network(networks::alpha_beta(test::kAlpha, test::kBeta), {},
                                       switches);
    SharedWork shared(64);
    const SchemeInfo info = in_network_scheme();
    const SchemeSetup setup{.ranks = ranks,
                            .space = {.components = n, .granule = 1},
                            .options = Options(info.options, options),
                            .shared = &shared,
                            .alpha = test::kAlpha,
                            .beta_per_word = test::kBeta,
                            .switches = switches};
    std::vector<std::unique_ptr<Scheme>> schemes;
    for (int rank = 0; rank < ranks; ++rank) schemes.push_back(info.make(setup));
    const auto program = [&](Communicator& comm) {
      return sum_zeros(comm, *schemes[static_cast<std::size_t>(comm.rank().value())], n);
    };
    return network.run(ranks, program).makespan().value();
  }
  [[nodiscard]] Cost cost() const {
    const SchemeInfo info = in_network_scheme();
    const Options all(info.options, options);
    return info.cost({.ranks = ranks,
                      .n = n,
                      .options = &all,
                      .alpha = test::kAlpha,
                      .beta_per_word = test::kBeta,
                      .switches = switches});
  }
};

double switch_seconds(const Terms& terms) {
  return formula(terms.messages, terms.words) + terms.seconds;
}

/// Switches that take `seconds` and are `slow` times as slow as the ports.
ReducingSwitches switches_of(double seconds, double slow) {
  const ReducingSwitch one{.bandwidth = 4 / test::kBeta.value() / slow,
                           .latency = Seconds(seconds)};
  return {.node = one, .network = one};
}

}  // namespace

TEST_CASE("Sums in switches are right for nodes and chunks of any number") {
  const SchemeInfo& info = find_scheme("dense_in_network");
  for (const int ranks : test::kRankCounts) {
    for (const int node : {1, 2, 3, 4, 8}) {
      for (const int chunks : {1, 2, 5}) {
        for (const GradientSpace space : {GradientSpace{1, 1}, GradientSpace{997, 4}}) {
          CAPTURE(ranks);
          CAPTURE(node);
          CAPTURE(chunks);
          CAPTURE(space.components);
          test::Networks networks;
          CHECK(
              test::dense_conforms(networks.alphabeta, info, ranks, space, in_nodes(node, chunks)));
          CHECK(
              test::dense_conforms(networks.counting, info, ranks, space, in_nodes(node, chunks)));
        }
      }
    }
  }
}

TEST_CASE("One switch sums n words in α + n β and its latency, for any number of ranks") {
  for (const int ranks : {2, 3, 7, 64}) {
    for (const std::int64_t n : {1, 1000, 12345}) {
      const auto words = static_cast<double>(n);
      CHECK(SwitchRun{ranks, n, {}}.time() == exactly(formula(1, words)));
      // A slower switch occupies the ports as long as it takes.
      CHECK(SwitchRun{ranks, n, {}, switches_of(3e-6, 2.5)}.time() ==
            exactly(formula(1, 2.5 * words) + 3e-6));
    }
  }
}

TEST_CASE("A node's switch takes the chunks in steps: the worked example") {
  const SwitchRun run{4, 32, in_nodes(4, 2)};
  CHECK(run.time() == exactly(formula(4, 52)));
  CHECK(run.cost().exact);
  const SwitchRun slow{4, 32, in_nodes(4, 2), switches_of(1e-6, 1)};
  CHECK(slow.time() == exactly(formula(4, 52) + 3e-6));
  CHECK(switch_seconds(slow.cost().run().low) == exactly(slow.time()));
}

TEST_CASE("The number of chunks on one node is the one that takes the least time") {
  for (const int ranks : {2, 3, 8}) {
    CAPTURE(ranks);
    const auto time = [&](std::int64_t chunks) {
      return SwitchRun{ranks, 100'000, in_nodes(ranks, chunks), switches_of(0.4e-6, 1)}.time();
    };
    double least = time(1);
    for (std::int64_t chunks = 2; chunks < 200; ++chunks) least = std::min(least, time(chunks));
    CHECK(time(0) <= 1.015 * least);
  }
}

TEST_CASE("dense_in_network costs its formula, exactly where the pieces are equal") {
  int exact = 0;
  for (const int ranks : test::kRankCounts) {
    for (const int node : {1, 2, 4, 8}) {
      for (const int chunks : {0, 1, 2, 3, 8}) {
        for (const std::int64_t n : {960, 1003, 100'000}) {
          for (const ReducingSwitches& switches :
               {test::kSwitches, switches_of(0.9e-6, 1.7),
                ReducingSwitches{.node = test::kSwitches.node, .network = {}},
                ReducingSwitches{.node = {}, .network = test::kSwitches.network}}) {
            CAPTURE(ranks);
            CAPTURE(node);
            CAPTURE(chunks);
            CAPTURE(n);
            const SwitchRun run{ranks, n, in_nodes(node, chunks), switches};
            const Cost cost = run.cost();
            const double time = run.time();
            CHECK(time >= switch_seconds(cost.run().low) * (1 - 1e-9));
            CHECK(time <= switch_seconds(cost.run().high) * (1 + 1e-9));
            if (cost.exact) CHECK(time == exactly(switch_seconds(cost.run().low)));
            exact += cost.exact && ranks > node ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(exact > 200);
}

TEST_CASE("Where no switch sums, the scheme and the network say so") {
  SharedWork shared(64);
  const SchemeInfo info = in_network_scheme();
  const SchemeSetup setup{.ranks = 2,
                          .space = {.components = 10, .granule = 1},
                          .options = Options(info.options, {}),
                          .shared = &shared};
  CHECK_THROWS_WITH_AS(info.make(setup), doctest::Contains("needs switches that sum"), InputError);
  networks::AlphaBetaNetwork network(networks::alpha_beta(test::kAlpha, test::kBeta));
  SchemeRanks scheme(info, 2, {.components = 10, .granule = 1}, 0);
  const auto zeros = [](int) { return DenseBlock(0, std::vector<float>(10)); };
  CHECK_THROWS_WITH_AS(scheme.run(network, 1, zeros),
                       doctest::Contains("no switch between nodes sums on this network"),
                       SimulationError);
}

}  // namespace thinwire::algorithms
