// Every scheme gives on links what a serial program gives, with every routing and background, and
// takes the same time twice.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/links.hpp"
#include "tests/support/low_rank.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/switches.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::Case;
using test::Doubles;
using test::Shape;
using test::Timed;

namespace {

/// Number of wrong results, and the times of all runs.
struct Outcome {
  int wrong = 0;
  Doubles times;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(Network& network, int ranks) {
  Timed timed(network);
  Outcome outcome;
  const GradientSpace coarse{.components = 1602, .granule = 4};
  const std::vector<Case> cases{
      {.ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24},
      {.ranks = ranks, .space = coarse, .k = 96, .shape = Shape::skewed}};
  for (const algorithms::SchemeInfo& info : test::schemes_without_switches()) {
    if (info.dense) {
      if (info.approximate) continue;
      if (!test::dense_conforms(timed, info, ranks, {997, 4})) ++outcome.wrong;
      continue;
    }
    for (const Case& c : cases) {
      const test::GivenOptions options = test::short_periods_of(info);
      if (!test::sparse_conforms(timed, info.name, c, options, 2)) ++outcome.wrong;
    }
  }
  if (!test::low_rank_conforms(timed, ranks, 400, 2)) ++outcome.wrong;
  outcome.times = timed.times();
  return outcome;
}

/// Wrong results over all P; times that differ when all is run again; the latest of all times.
struct Verdict {
  double wrong;
  double differ;
  double latest;
};

Verdict verdict_on(const std::string& platform, const LinksSettings& settings,
                   const std::vector<int>& all_ranks) {
  const Doubles numbers = test::on_links(
      {.platform = platform, .ranks = 2, .settings = settings}, [&](LinksNetwork& network) {
        Doubles sums{0, 0, 0};
        for (const int ranks : all_ranks) {
          if (test::kSanitized && ranks > 3) continue;
          // Every third host, so that there are several switches.
          std::vector<topologies::HostIndex> hosts;
          for (int rank = 0; rank < ranks; ++rank)
            hosts.push_back(static_cast<topologies::HostIndex>(3 * rank));
          network.connect(hosts);
          const Outcome once = outcome_of(network, ranks);
          sums[0] += once.wrong;
          sums[1] += test::kSanitized || outcome_of(network, ranks) == once ? 0 : 1;
          sums[2] = std::max(sums[2], std::ranges::max(once.times));
        }
        return sums;
      });
  return {numbers[0], numbers[1], numbers[2]};
}

/// The times of every scheme on every third host, and 2 if routes were found on demand, else 1.
Doubles times_on(const std::string& platform, int ranks, const LinksSettings& settings) {
  return test::on_links({.platform = platform, .ranks = 2, .settings = settings},
                        [&](LinksNetwork& network) {
                          std::vector<topologies::HostIndex> hosts;
                          for (int rank = 0; rank < ranks; ++rank) {
                            hosts.push_back(static_cast<topologies::HostIndex>(3 * rank));
                          }
                          network.connect(hosts);
                          Doubles times = outcome_of(network, ranks).times;
                          times.push_back(network.routes().on_demand() ? 2 : 1);
                          return times;
                        });
}

void check_on(const std::string& platform) {
  for (const LinkRouting routing :
       {LinkRouting::minimal, LinkRouting::valiant, LinkRouting::ugal, LinkRouting::ecmp}) {
    for (const bool background : {false, true}) {
      CAPTURE(platform);
      CAPTURE(static_cast<int>(routing));
      CAPTURE(background);
      const bool plain = routing == LinkRouting::minimal && !background;
      if (test::kSanitized && background == (routing == LinkRouting::minimal)) continue;
      const Verdict verdict = verdict_on(platform,
                                         {.routing = routing,
                                          .background_share = background ? 0.3 : 0.0,
                                          .background_flows = background ? 0.5 : 0.0},
                                         plain ? std::vector{2, 3, 8, 12} : std::vector{3, 8});
      CHECK(verdict.wrong == 0);
      CHECK(verdict.differ == 0);
      CHECK(verdict.latest > 0);
    }
  }
}

void check_family(const std::string& name, const std::map<std::string, std::string>& parameters) {
  const test::PlatformFile file = test::made_platform(name, parameters);
  check_on(file.path());
}

}  // namespace

// Of the shipped platforms SimGrid's routes; of small ones of the same families all routes.

TEST_CASE("Every scheme on links gives what a serial program gives, on the shipped platforms") {
  for (const char* platform : {"aries_daint", "fat_tree", "nvlink_ib", "gige_star"}) {
    CAPTURE(std::string(platform));
    const Verdict verdict = verdict_on(topologies::kPlatforms.file(platform), {}, {3});
    CHECK(verdict.wrong == 0);
    CHECK(verdict.differ == 0);
    CHECK(verdict.latest > 0);
  }
}

TEST_CASE("Every scheme on a dragonfly gives what a serial program gives, whatever the routing") {
  check_family("dragonfly", {{"groups", "3"}, {"chassis", "2"}, {"routers", "3"}, {"nodes", "3"}});
}

TEST_CASE("Every scheme on a fat tree gives what a serial program gives, whatever the routing") {
  check_family("fat_tree", {{"children", "4,3,4"}});
}

TEST_CASE("Every scheme on nodes of GPUs gives what a serial program gives, whatever the routing") {
  check_family("nvlink_ib", {{"nodes", "10"}, {"gpus", "4"}, {"nics", "2"}, {"leaf-nodes", "5"}});
}

TEST_CASE("Every scheme on gige_star gives what a serial program gives, whatever the routing") {
  check_on(topologies::kPlatforms.file("gige_star"));
}

TEST_CASE("Every scheme on links gives what a serial program gives, whatever a host costs") {
  const test::PlatformFile gpus = test::made_platform(
      "nvlink_ib", {{"nodes", "10"}, {"gpus", "4"}, {"nics", "2"}, {"leaf-nodes", "5"}});
  constexpr HostCosts kEager{.eager = Bytes(300)};  // schemes send messages of 0 words, too
  HostCosts queued = kEager;
  queued.queued = Bytes(100);
  HostCosts buffered = kEager;
  buffered.buffered = Bytes(200);
  HostCosts acknowledged = kEager;
  acknowledged.inlined = Bytes(40);
  HostCosts few = acknowledged;
  few.buffered = Bytes(20);
  few.destinations = 1;
  for (const HostCosts& host :
       {kEager, queued, buffered, acknowledged, few,
        HostCosts{.handshake = true, .one_way = Bytes(200)},
        HostCosts{.overhead = Seconds(1e-6), .eager = Bytes(300), .noise = Seconds(1e-6)}}) {
    CAPTURE(host.eager.value());
    CAPTURE(host.queued.value());
    CAPTURE(host.buffered.value());
    const Verdict verdict = verdict_on(gpus.path(), {.host = host}, {3, 7, 12});
    CHECK(verdict.wrong == 0);
    CHECK(verdict.differ == 0);
    CHECK(verdict.latest > 0);
  }
}

TEST_CASE("Routes that are found when they are needed give the times of those that are held") {
  const test::PlatformFile gpus = test::made_platform(
      "nvlink_ib", {{"nodes", "10"}, {"gpus", "4"}, {"nics", "2"}, {"leaf-nodes", "5"}});
  for (const std::string& platform : {gpus.path(), topologies::kPlatforms.file("aries_daint"),
                                      topologies::kPlatforms.file("fat_tree")}) {
    CAPTURE(platform);
    const int ranks = test::kSanitized ? 3 : 12;
    const Doubles times = times_on(platform, ranks, {});
    CHECK(times.size() > 50);
    const Doubles found = times_on(platform, ranks, {.routes_held = 0});
    REQUIRE(found.size() == times.size());
    CHECK(times.back() == 1);
    CHECK(found.back() == 2);
    // The lookahead is 0, so additions may be rounded in another order.
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      CHECK(std::abs(found[i] - times[i]) <= 1e-14 * times[i]);
    }
  }
}

}  // namespace thinwire::networks
