// What others leave of the links.
#include "sim/machine/networks/links/bandwidths.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"

namespace thinwire::networks {

using test::exactly;
using test::PlatformFile;
using test::times_on_links;

namespace {

using Routes = std::vector<std::vector<topologies::LinkIndex>>;

struct Sharing {
  Routes routes;
  std::vector<double> demands;
  std::vector<double> bandwidths;
};

Sharing random_sharing(std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto draw = [&](std::uint64_t below) { return random_bits(seed, counter++) % below; };
  Sharing given;
  const std::uint64_t links = 1 + draw(10);
  for (std::uint64_t i = 0; i < links; ++i) {
    given.bandwidths.push_back(draw(2) == 0 ? 1e9 : 1e8 * static_cast<double>(1 + draw(100)));
  }
  const std::uint64_t flows = draw(30);
  for (std::uint64_t i = 0; i < flows; ++i) {
    std::vector<topologies::LinkIndex> route;
    for (topologies::LinkIndex link = 0; link < links; ++link) {
      if (draw(3) == 0) route.push_back(link);
    }
    given.routes.push_back(route);
    given.demands.push_back(draw(4) == 0 ? 1e12 : 1e7 * static_cast<double>(draw(50)));
  }
  return given;
}

/// What is wrong with rates that are to be max-min fair; empty where nothing is. Each flow has what
/// it asks for, or crosses a full link on which none has more.
std::string unfair(const Sharing& given, const std::vector<double>& rates) {
  constexpr double kRounding = 1e-9;
  if (rates.size() != given.routes.size()) return "another number of rates";
  std::vector<double> load(given.bandwidths.size());
  std::vector<double> largest(given.bandwidths.size());
  for (std::size_t flow = 0; flow < rates.size(); ++flow) {
    for (const topologies::LinkIndex link : given.routes[flow]) {
      load[link] += rates[flow];
      largest[link] = std::max(largest[link], rates[flow]);
    }
  }
  for (std::size_t link = 0; link < load.size(); ++link) {
    if (load[link] > given.bandwidths[link] * (1 + kRounding)) return "a link carries too much";
  }
  for (std::size_t flow = 0; flow < rates.size(); ++flow) {
    if (rates[flow] == given.demands[flow]) continue;
    if (rates[flow] > given.demands[flow]) return "more than it asks for";
    const bool held_back = std::ranges::any_of(given.routes[flow], [&](topologies::LinkIndex link) {
      return load[link] >= given.bandwidths[link] * (1 - kRounding) &&
             rates[flow] >= largest[link] * (1 - kRounding);
    });
    if (!held_back) return "a flow could have more";
  }
  return {};
}

LinksSettings share_of(double share) { return {.background_share = share}; }
LinksSettings flows_of(double flows, std::uint64_t seed = 1) {
  return {.background_flows = flows, .seed = seed};
}

double makespan(const test::LinksPlace& place, const RankProgram& program) {
  return std::ranges::max(times_on_links(place, program));
}

}  // namespace

TEST_CASE("Rates of background flows are max-min fair") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Sharing given = random_sharing(seed);
    CAPTURE(seed);
    CHECK(unfair(given, max_min_rates(given.routes, given.demands, given.bandwidths)).empty());
  }
}

TEST_CASE("Rates of the textbook's line of links") {
  // One flow along all links, one on each: of links of 1, 2 and 10 the long one gets half of the
  // first, and the others what is left, as far as they ask for it.
  const Routes routes{{0, 1, 2}, {0}, {1}, {2}};
  const std::vector<double> rates = max_min_rates(routes, {100, 100, 100, 4}, {1, 2, 10});
  CHECK(rates == std::vector<double>{0.5, 0.5, 1.5, 4});
}

TEST_CASE("Flows that ask for nothing, or cross nothing, have what they ask for") {
  CHECK(max_min_rates({{0}, {}, {0}}, {0, 7, 5}, {1}) == std::vector<double>{0, 7, 1});
  CHECK(max_min_rates({}, {}, {1}).empty());
}

TEST_CASE("A share that others use of a shared bottleneck slows a long message by as much") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, 250'000'000);
  };
  const double alone = makespan({.platform = file.path(), .ranks = 4}, program);
  for (const double share : {0.1, 0.5, 0.9}) {
    CAPTURE(share);
    const double slow =
        makespan({.platform = file.path(), .ranks = 4, .settings = share_of(share)}, program);
    CHECK(slow / alone == test::approx(1 / (1 - share)).epsilon(1e-4));
  }
}

TEST_CASE("A slow cable is slow in both directions") {
  const PlatformFile file(test::two_hosts_xml({"10GBps", "1us"}));
  const auto one_way = [&](int from, const std::string& slow_links) {
    const RankProgram program = [from](Communicator& comm) -> Task<void> {
      const Rank other(1 - comm.rank().value());
      if (comm.rank().value() == from) {
        co_await comm.wait(comm.isend(other, Tag(0), test::empty_message(250'000'000)));
      } else {
        co_await comm.wait(comm.irecv(other, Tag(0)));
      }
    };
    return makespan({.platform = file.path(), .ranks = 2, .settings = {.slow_links = slow_links}},
                    program);
  };
  for (const int from : {0, 1}) {
    CAPTURE(from);
    CHECK(one_way(from, "cable=0.5") / one_way(from, "") == test::approx(2).epsilon(1e-4));
    // A direction alone.
    const double up = one_way(from, "cable_UP=0.5") / one_way(from, "");
    CHECK(up == test::approx(from == 0 ? 2 : 1).epsilon(1e-4));
  }
}

TEST_CASE("Background flows ask for a share of the first link of their way") {
  // Each host sends by a link of 10 GBps and receives by one of 1, so 0.05 of the former is half of
  // the latter.
  std::string hosts;
  std::string routes;
  for (const char* host : {"a", "b", "c", "d"}) {
    hosts += fmt::format(R"(<host id="{0}" speed="1Gf"/>
      <link id="up-{0}" bandwidth="10GBps" latency="1us"/>
      <link id="down-{0}" bandwidth="1GBps" latency="1us"/>)",
                         host);
    for (const char* other : {"a", "b", "c", "d"}) {
      if (host == other) continue;
      routes += fmt::format(R"(<route src="{0}" dst="{1}" symmetrical="no"><link_ctn id="up-{0}"/>
        <link_ctn id="shared"/><link_ctn id="down-{1}"/></route>)",
                            host, other);
    }
  }
  const PlatformFile file(test::platform_xml(
      R"(<zone id="world" routing="Full"><link id="shared" bandwidth="2GBps" latency="1us"/>)" +
      hosts + routes + "</zone>"));
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, 250'000'000);
  };
  const test::LinksPlace alone{.platform = file.path(), .ranks = 2};
  test::LinksPlace beside = alone;
  beside.settings.background_flows = 0.05;
  // c and d send to each other: 0.5 GBps each, of the 2 that all share. The ranks are held back by
  // their ports.
  CHECK(makespan(beside, program) == test::approx(makespan(alone, program)).epsilon(1e-4));
  beside.settings.background_flows = 0.06;  // 0.6 each: 0.8 are left
  CHECK(makespan(beside, program) / makespan(alone, program) == test::approx(1.25).epsilon(1e-3));
}

TEST_CASE("A link that has lost capacity slows a long message by as much") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, 250'000'000);
  };
  const auto time_with = [&](const std::string& slow_links) {
    return makespan({.platform = file.path(), .ranks = 4, .settings = {.slow_links = slow_links}},
                    program);
  };
  const double alone = time_with("");
  CHECK(time_with("middle=0.5") / alone == test::approx(2).epsilon(1e-4));
  CHECK(test::contains(
      test::error_of<InputError>([] { check_slow_links("middle=0.5,other=0.2,middle=0.5"); }),
      "middle is given twice"));
  CHECK(time_with("middle=1") == alone);
  CHECK(test::contains(test::error_of<InputError>([&] { time_with("midle=0.5"); }),
                       "unknown link 'midle'; did you mean 'middle'?"));
  for (const char* bad : {"middle", "middle=0", "middle=1.5", "=0.5", "middle=x", "middle=0.5,"}) {
    CAPTURE(std::string(bad));
    CHECK(test::contains(test::error_of<InputError>([&] { check_slow_links(bad); }),
                         "expected NAME=SHARE"));
  }
}

TEST_CASE("Others use no ports") {
  const PlatformFile file(test::star_xml(8, {"10GBps", "1us"}));
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, 1'000'000);
  };
  const double alone = makespan({.platform = file.path(), .ranks = 4}, program);
  CHECK(makespan({.platform = file.path(), .ranks = 4, .settings = share_of(0.9)}, program) ==
        alone);
  CHECK(makespan({.platform = file.path(), .ranks = 4, .settings = flows_of(1)}, program) == alone);
}

TEST_CASE("Fat pipes have room for all") {
  const PlatformFile file(
      test::with_fat_middle(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"})));
  // The ports of the dumbbell are half duplex, so they are links like the others.
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, 1'000'000);
  };
  const double alone = makespan({.platform = file.path(), .ranks = 4}, program);
  CHECK(makespan({.platform = file.path(), .ranks = 4, .settings = share_of(0.5)}, program) ==
        exactly(alone));  // half of 10 GB/s is still more than the pipe
}

TEST_CASE("More background is never faster") {
  const PlatformFile file = test::made_platform(
      "dragonfly", {{"groups", "3"}, {"chassis", "2"}, {"routers", "3"}, {"nodes", "2"}});
  const RankProgram program = [](Communicator& comm) { return test::ring(comm, 100'000, 6); };
  // Every other host, so that the flows of the rest cross the same links.
  std::vector<topologies::HostIndex> hosts;
  for (topologies::HostIndex host = 0; host < 36; host += 2) hosts.push_back(host);
  const test::LinksPlace place{.platform = file.path(), .ranks = 18, .hosts = hosts};
  const double alone = makespan(place, program);
  const auto with = [&](const LinksSettings& settings) {
    test::LinksPlace loaded = place;
    loaded.settings = settings;
    return makespan(loaded, program);
  };
  double before = alone;
  for (const double share : {0.0, 0.2, 0.5, 0.9}) {
    const double now = with(share_of(share));
    CHECK(now >= before);
    before = now;
  }
  CHECK(before > alone);
  before = alone;
  for (const double flows : {0.0, 0.1, 0.5, 1.0}) {
    const double now = with(flows_of(flows));
    CHECK(now >= before * (1 - 1e-12));
    before = now;
  }
  CHECK(before > alone);
}

TEST_CASE("Background flows are the same for the same seed, and others for others") {
  const PlatformFile file =
      test::made_platform("fat_tree", {{"children", "4,4"}, {"oversubscription", "4"}});
  const RankProgram program = [](Communicator& comm) { return test::ring(comm, 100'000, 2); };
  const auto times = [&](std::uint64_t seed) {
    return times_on_links({.platform = file.path(),
                           .ranks = 8,
                           .hosts = {0, 2, 4, 6, 8, 10, 12, 14},
                           .settings = flows_of(1, seed)},
                          program);
  };
  const test::Doubles first = times(1);
  CHECK(times(1) == first);
  bool others = false;
  for (std::uint64_t seed = 2; seed < 6; ++seed) others = others || times(seed) != first;
  CHECK(others);
}

TEST_CASE("Background flows need two hosts without a rank") {
  const PlatformFile file(test::star_xml(4));
  const RankProgram program = [](Communicator& comm) { return test::ring(comm, 10, 1); };
  const auto run = [&](int ranks) {
    return test::error_of<InputError>([&] {
      (void)times_on_links({.platform = file.path(), .ranks = ranks, .settings = flows_of(0.5)},
                           program);
    });
  };
  CHECK(run(2) == "(nothing was thrown)");
  for (const int ranks : {3, 4}) {
    const std::string error = run(ranks);
    CHECK(test::contains(error, file.path() + ": background_flows: "));
    CHECK(test::contains(error, std::to_string(4 - ranks) + " of 4 hosts have no rank"));
  }
}

TEST_CASE("A link leaves at least a flow's share, however many others there are") {
  // All other hosts of the left send through the middle, as much as they can.
  std::string xml = test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"});
  const PlatformFile file(xml);
  const std::string text = test::text_on_links(
      {.platform = file.path(), .ranks = 2, .hosts = {0, 2}}, [](LinksNetwork& network) {
        const std::vector<double> left = bandwidths_left(
            network.platform(), {0, 2}, flows_of(1), [](topologies::LinkIndex) { return false; });
        std::string all;
        for (topologies::LinkIndex link = 0; link < left.size(); ++link) {
          const topologies::PlatformLink& its = network.platform().links()[link];
          all += its.name + fmt::format(" {:.3f}\n", left[link] / its.bandwidth);
        }
        return all;
      });
  // left-1 and right-1 send to one another: both ways through the middle, 1 GB/s each.
  CHECK(test::contains(text, "middle 0.333\n"));
  CHECK(test::contains(text, "port-left-0 1.000\n"));
  CHECK(test::contains(text, "port-left-1 0.800\n"));
}

}  // namespace thinwire::networks
