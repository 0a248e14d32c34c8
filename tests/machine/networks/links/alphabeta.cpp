// Without any link that ranks share, links is the α-β machine, to rounding.
#include "sim/machine/networks/alphabeta/alphabeta.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/links.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/started.hpp"
#include "tests/support/switches.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::Doubles;
using test::PlatformFile;
using test::SchemeRanks;

namespace {

/// The same machine, of a platform that is a star.
AlphaBetaNetwork machine_of(const topologies::Platform& platform) {
  const topologies::Route route = platform.route(0, 1);
  double bandwidth = HUGE_VAL;
  for (const topologies::LinkIndex link : route.links) {
    bandwidth = std::min(bandwidth, platform.links()[link].bandwidth);
  }
  return AlphaBetaNetwork({.latency = route.latency,
                           .overhead = Seconds(0),
                           .gap = platform.message_gap(),
                           .gap_per_word = Seconds(4 / bandwidth)});
}

/// Of a scheme on a network: when each rank ended, in every iteration. Local work takes time, so
/// that ranks come out of step.
Doubles times_of(Network& network, const algorithms::SchemeInfo& info, int ranks) {
  const GradientSpace space{.components = 3000, .granule = 1};
  SchemeRanks scheme(info, ranks, space, 150, test::short_periods_of(info), Seconds(3e-9));
  const auto gradient = [&](int rank) -> algorithms::LocalGradient {
    if (info.dense) return test::dense_gradient(3000, rank);
    return test::shaped_gradient(test::Shape::skewed, 3000, ranks, rank, 1, 400);
  };
  Doubles all;
  const int iterations = ranks > 16 ? 1 : 2;
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const Doubles ended = test::finished_of(scheme.run(network, iteration, gradient).report);
    all.insert(all.end(), ended.begin(), ended.end());
  }
  return all;
}

double worst_difference(const Doubles& times, const Doubles& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == wanted[i]) continue;
    const double difference = std::abs(times[i] / wanted[i] - 1);
    if (!(difference <= worst)) worst = difference;  // NaN too
  }
  return worst;
}

struct Compared {
  std::string name;
  double latest = 0;
  double worst = 0;  ///< relative difference of any rank's time
};

std::vector<Compared> compared_on(const std::string& platform, int ranks) {
  const Doubles numbers =
      test::on_links({.platform = platform, .ranks = ranks}, [&](LinksNetwork& network) {
        AlphaBetaNetwork machine = machine_of(network.platform());
        Doubles all;
        for (const algorithms::SchemeInfo& info : test::schemes_without_switches()) {
          const Doubles links = times_of(network, info, ranks);
          const Doubles wanted = times_of(machine, info, ranks);
          all.push_back(std::ranges::max(links));
          all.push_back(worst_difference(links, wanted));
        }
        return all;
      });
  std::vector<Compared> compared;
  for (const algorithms::SchemeInfo& info : test::schemes_without_switches()) {
    const std::size_t at = 2 * compared.size();
    compared.push_back({info.name, numbers[at], numbers[at + 1]});
  }
  return compared;
}

void check_equal_on(const std::string& platform, const std::vector<int>& all_ranks) {
  for (const int ranks : all_ranks) {
    if (test::kSanitized && ranks > 8) continue;
    for (const Compared& scheme : compared_on(platform, ranks)) {
      CAPTURE(ranks);
      CAPTURE(scheme.name);
      CHECK(scheme.worst < 1e-12);
      CHECK((ranks == 1 || scheme.latest > 0));
    }
  }
}

/// The times of a program on a star and in the machine that it is.
struct Both {
  Doubles links;
  Doubles machine;

  /// The largest relative difference of any rank's time.
  [[nodiscard]] double worst() const { return worst_difference(links, machine); }
};

Both both_of(const std::string& platform, int ranks, const RankProgram& program) {
  Doubles numbers =
      test::on_links({.platform = platform, .ranks = ranks}, [&](LinksNetwork& network) {
        AlphaBetaNetwork machine = machine_of(network.platform());
        Doubles all = test::finished_of(network.run(ranks, program));
        const Doubles wanted = test::finished_of(machine.run(ranks, program));
        all.insert(all.end(), wanted.begin(), wanted.end());
        return all;
      });
  return {{numbers.begin(), numbers.begin() + ranks}, {numbers.begin() + ranks, numbers.end()}};
}

}  // namespace

TEST_CASE(
    "On a star without latency every scheme takes the alpha-beta machine's times, few ranks") {
  check_equal_on(topologies::kPlatforms.file("alphabeta"), {1, 2, 3, 7});
}

TEST_CASE("On a star without latency every scheme takes the alpha-beta machine's times, 12 to 17") {
  check_equal_on(topologies::kPlatforms.file("alphabeta"), {12, 16, 17});
}

TEST_CASE("On a star without latency every scheme takes the alpha-beta machine's times, 64 ranks") {
  check_equal_on(topologies::kPlatforms.file("alphabeta"), {64});
}

TEST_CASE("On a star with latency every scheme takes the LogGP machine's times") {
  const PlatformFile file(
      test::star_xml(17, {"10GBps", "1.3us"}, test::property("thinwire.message_gap", "0.7us")));
  check_equal_on(file.path(), {2, 3, 8, 12, 17});
}

TEST_CASE("On a star without a gap per message every scheme takes the LogGP machine's times") {
  const PlatformFile file(test::star_xml(12, {"3GBps", "1.3us"}));
  check_equal_on(file.path(), {2, 7, 12});
}

TEST_CASE("Messages that queue at ports of a star take the alpha-beta machine's times") {
  const std::string platform = topologies::kPlatforms.file("alphabeta");
  for (const int ranks : {2, 3, 8, 17}) {
    CAPTURE(ranks);
    for (const int window : {1, 4, 16}) {
      const Both both = both_of(
          platform, ranks, [&](Communicator& comm) { return test::all_to_all(comm, 997, window); });
      CHECK(both.worst() < 1e-12);
    }
    const Both incast =
        both_of(platform, ranks, [](Communicator& comm) { return test::incast(comm, 10'000); });
    CHECK(incast.worst() < 1e-12);
  }
}

TEST_CASE("What a rank starts beside its program shares its ports as in the alpha-beta machine") {
  for (const int ranks : {1, 2, 3, 7, 8}) {
    for (const int started : {1, 3}) {
      for (const std::int64_t message : {0, 5000}) {
        CAPTURE(ranks);
        CAPTURE(started);
        CAPTURE(message);
        const test::Overlap given{
            .ranks = ranks, .words = 640, .started = started, .compute = 1e-6, .message = message};
        const Doubles numbers = test::on_links(
            {.platform = topologies::kPlatforms.file("alphabeta"), .ranks = ranks},
            [&](LinksNetwork& network) {
              AlphaBetaNetwork machine = machine_of(network.platform());
              test::Overlapped here(given);
              test::Overlapped there(given);
              const Doubles times = test::finished_of(here.run(network));
              const Doubles wanted = test::finished_of(there.run(machine));
              return Doubles{here.right() ? 1.0 : 0.0, worst_difference(times, wanted)};
            });
        CHECK(numbers[0] == 1);
        CHECK(numbers[1] < 1e-12);
      }
    }
  }
}

}  // namespace thinwire::networks
