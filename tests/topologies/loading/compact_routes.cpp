// The routes that a network of our own takes are SimGrid's, on every pair.
#include "topologies/loading/compact_routes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/route_table.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;
using test::on_platform;

constexpr CompactRoutesLimits kAllPairs{.all_pairs_up_to = 1'000'000};
constexpr CompactRoutesLimits kClasses{.all_pairs_up_to = 0};
constexpr CompactRoutesLimits kAllPairsOnDemand{.all_pairs_up_to = 1'000'000, .held_up_to = 0};
constexpr CompactRoutesLimits kClassesOnDemand{.all_pairs_up_to = 0, .held_up_to = 0};

std::vector<HostIndex> all_hosts(const Platform& platform) {
  std::vector<HostIndex> hosts(platform.hosts().size());
  std::iota(hosts.begin(), hosts.end(), HostIndex{0});
  return hosts;
}

/// "" where the routes of all pairs are SimGrid's and all their figures right.
std::string wrong_with(const Platform& platform, const CompactRoutes& routes) {
  const RouteTable table = routes_of(platform);
  for (SiteIndex from = 0; from < routes.sites(); ++from) {
    if (routes.up_ports(from).size() > 15 || routes.down_ports(from).size() > 15) {
      return "too many ports";
    }
    for (SiteIndex to = 0; to < routes.sites(); ++to) {
      const std::vector<LinkIndex> wanted =
          table.route(routes.host_of(from), routes.host_of(to)).value().links;
      const CompactRoute route = routes.route(from, to);
      double slowest = std::numeric_limits<double>::infinity();
      for (const LinkIndex link : wanted) {
        slowest = std::min(slowest, platform.links()[link].bandwidth);
      }
      double latency = 0;
      for (const auto& half : routes.inner_links(route)) {
        for (const LinkIndex link : half) latency += platform.links()[link].latency.value();
      }
      const bool ports = route.up != CompactRoute::kNoPort || route.down != CompactRoute::kNoPort;
      if (routes.links(from, to) != wanted || routes.kind(route).bandwidth != slowest ||
          routes.kind(route).latency != latency || (wanted.size() < 2 && ports)) {
        return fmt::format("from {} to {}", platform.hosts()[routes.host_of(from)].name,
                           platform.hosts()[routes.host_of(to)].name);
      }
    }
  }
  return {};
}

/// "" where the routes from and to a block of the first third of the hosts are SimGrid's.
std::string wrong_with_block(const Platform& platform, const CompactRoutesLimits& limits) {
  const std::vector<HostIndex> hosts = all_hosts(platform);
  const std::size_t block = (hosts.size() + 2) / 3;
  const CompactRoutes routes(platform, hosts, block, limits);
  const RouteTable table = routes_of(platform);
  const auto links = [&](SiteIndex from, SiteIndex to, CompactRoute route) {
    std::vector<LinkIndex> all;
    if (route.up != CompactRoute::kNoPort) all.push_back(routes.up_ports(from)[route.up]);
    for (const auto& half : routes.inner_links(route))
      all.insert(all.end(), half.begin(), half.end());
    if (route.down != CompactRoute::kNoPort) all.push_back(routes.down_ports(to)[route.down]);
    return all;
  };
  for (SiteIndex in = 0; in < block; ++in) {
    for (SiteIndex other = 0; other < routes.sites(); ++other) {
      const CompactRoute from = routes.route_from_block(routes.site(in), routes.site(other));
      const CompactRoute to = routes.route_to_block(routes.site(other), routes.site(in));
      if (links(in, other, from) != table.route(in, other).value().links ||
          links(other, in, to) != table.route(other, in).value().links) {
        return fmt::format("between {} and {}", platform.hosts()[in].name,
                           platform.hosts()[other].name);
      }
    }
  }
  return {};
}

/// With every pair asked, with classes, on demand and with a block: "COMPLETE ROWSxCOLUMNS" of the
/// classes, or what is wrong.
std::string judged(const std::string& path) {
  return on_platform(path, [](const Platform& platform) -> std::string {
    const std::vector<HostIndex> hosts = all_hosts(platform);
    const CompactRoutes all(platform, hosts, 0, kAllPairs);
    if (!all.complete()) return "not complete";
    if (const std::string wrong = wrong_with(platform, all); !wrong.empty()) {
      return "all pairs: " + wrong;
    }
    const CompactRoutes classes(platform, hosts, 0, kClasses);
    if (const std::string wrong = wrong_with(platform, classes); !wrong.empty()) {
      return "classes: " + wrong;
    }
    for (const CompactRoutesLimits& limits : {kAllPairsOnDemand, kClassesOnDemand}) {
      const CompactRoutes some(platform, hosts, 0, limits);
      if (!some.on_demand()) return "not on demand";
      for (int time = 0; time < 2; ++time) {  // the second time, some of the routes have been kept
        if (const std::string wrong = wrong_with(platform, some); !wrong.empty()) {
          return "on demand: " + wrong;
        }
      }
    }
    for (const CompactRoutesLimits& limits : {kAllPairs, kClasses}) {
      if (const std::string wrong = wrong_with_block(platform, limits); !wrong.empty()) {
        return "block: " + wrong;
      }
    }
    return fmt::format("{} {}x{}", classes.complete() ? "complete" : "classes", classes.rows(),
                       classes.columns());
  });
}

std::string judged_xml(const std::string& xml) {
  const test::TemporaryFolder folder;
  return judged(folder.write("p.xml", xml));
}

std::string judged_made(const std::string& name, const std::map<std::string, std::string>& given) {
  return judged_xml(make_platform(family(name), given));
}

/// Hosts h0 ... in a Full zone; `route` writes the links between two of them, in both directions.
std::string full_zone(int hosts, const std::string& links,
                      const std::function<std::string(int from, int to)>& route) {
  std::string body = "<zone id=\"z\" routing=\"Full\">\n";
  for (int host = 0; host < hosts; ++host) {
    body += fmt::format("<host id=\"h{}\" speed=\"1Gf\"/>\n", host);
  }
  body += links;
  for (int from = 0; from < hosts; ++from) {
    for (int to = 0; to < hosts; ++to) {
      if (from == to) continue;
      body += fmt::format("<route src=\"h{}\" dst=\"h{}\" symmetrical=\"NO\">{}</route>\n", from,
                          to, route(from, to));
    }
  }
  return test::platform_xml(body + "</zone>");
}

std::string link_xml(const std::string& name, int bandwidth = 1) {
  return fmt::format("<link id=\"{}\" bandwidth=\"{}GBps\" latency=\"1us\"/>\n", name, bandwidth);
}

std::string pass(const std::string& link) { return fmt::format("<link_ctn id=\"{}\"/>", link); }

}  // namespace

TEST_CASE("compact routes are SimGrid's on every pair of the shipped platforms of few hosts" *
          doctest::test_suite("large")) {
  CHECK(judged(kPlatforms.file("nvlink_ib")) == "classes 16x16");
  CHECK(judged(kPlatforms.file("gige_star")) == "classes 1x1");
  CHECK(judged(kPlatforms.file("exdyna_v100")).starts_with("classes"));
  CHECK(judged(kPlatforms.file("dragonn_v100")).starts_with("classes"));
}

TEST_CASE("compact routes are SimGrid's on dragonflies, whose routers are classes") {
  // 60 routers; the hosts that probes ran to are matched by other probes, where these tell.
  CHECK(judged_made("dragonfly",
                    {{"groups", "4"}, {"chassis", "3"}, {"routers", "5"}, {"nodes", "3"}}) ==
        "classes 62x62");
  // A chassis for a group is SimGrid's own zone.
  CHECK(judged_made("dragonfly",
                    {{"groups", "5"}, {"chassis", "1"}, {"routers", "6"}, {"nodes", "4"}}) ==
        "classes 30x30");
  CHECK(judged_made("dragonfly",
                    {{"groups", "1"}, {"chassis", "1"}, {"routers", "1"}, {"nodes", "1"}})
            .starts_with("classes"));
}

TEST_CASE("compact routes are SimGrid's on fat trees, whose leaves are classes of sources") {
  // Hosts as many as parents apart take the same routes down.
  CHECK(judged_made("fat_tree", {{"children", "8,12"}, {"oversubscription", "2"}}) ==
        "classes 12x57");
  CHECK(judged_made("fat_tree", {{"children", "4,6,5"}, {"oversubscription", "2,1"}}) ==
        "classes 30x120");
  CHECK(judged_made("fat_tree", {{"children", "8,8"}, {"oversubscription", "1"}, {"cables", "1,2"}})
            .starts_with("classes"));
}

TEST_CASE("compact routes are SimGrid's on nodes of GPUs, with and without rails") {
  for (const char* wiring : {"rails", "nodes"}) {
    for (const char* nics : {"1", "2", "4"}) {
      CAPTURE(std::string(wiring));
      CAPTURE(std::string(nics));
      CHECK(judged_made("nvlink_ib", {{"nodes", "18"},
                                      {"gpus", "4"},
                                      {"nics", nics},
                                      {"wiring", wiring},
                                      {"leaf-nodes", "5"}})
                .starts_with("classes"));
    }
  }
}

TEST_CASE("compact routes are SimGrid's on stars, of one host too") {
  for (const char* hosts : {"1", "2", "3", "7", "100"}) {
    CAPTURE(std::string(hosts));
    CHECK(judged_made("star", {{"hosts", hosts}}).starts_with("classes"));
    CHECK(judged_made("star", {{"hosts", hosts}, {"flat", "1"}}).starts_with("classes"));
  }
}

TEST_CASE("compact routes are SimGrid's with a half-duplex bus, and with a link for each pair") {
  const std::string bus = test::platform_xml(
      "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-63\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"1us\" bb_bw=\"2GBps\" bb_lat=\"1us\" sharing_policy=\"SHARED\"/>");
  CHECK(judged_xml(bus) == "classes 1x1");
  CHECK(judged_xml(full_zone(12, link_xml("bus"), [](int, int) { return pass("bus"); })) ==
        "classes 1x1");
  // No two hosts route alike: each is a class.
  std::string links;
  for (int i = 0; i < 400; ++i) links += link_xml(fmt::format("l{}", i), 1 + i % 7);
  CHECK(judged_xml(full_zone(20, links, [](int from, int to) {
          return pass(fmt::format("l{}", from * 20 + to));
        })).starts_with("classes"));
}

TEST_CASE(
    "compact routes are SimGrid's where every route is arbitrary, of more than 15 ports too") {
  std::string links;
  for (int i = 0; i < 60; ++i) links += link_xml(fmt::format("l{}", i), 1 + i % 5);
  const auto route = [](int from, int to) {
    std::string text;
    const auto draw = [&](std::uint64_t i) {
      return random_bits(3, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), i);
    };
    for (std::uint64_t i = 0; i < 1 + draw(0) % 5; ++i) {
      text += pass(fmt::format("l{}", draw(i + 1) % 60));
    }
    return text;
  };
  CHECK(judged_xml(full_zone(40, links, route)).starts_with("classes"));
}

TEST_CASE("compact routes are SimGrid's across zones in zones") {
  std::string body = "<zone id=\"world\" routing=\"Floyd\">\n";
  for (int cluster = 0; cluster < 6; ++cluster) {
    body += fmt::format(
        "<cluster id=\"c{0}\" prefix=\"c{0}-\" suffix=\"\" radical=\"0-{1}\" speed=\"1Gf\" "
        "bw=\"{2}GBps\" lat=\"1us\" router_id=\"r{0}\"/>\n",
        cluster, 5 + cluster, 1 + cluster % 2);
  }
  for (int cable = 0; cable < 6; ++cable) body += link_xml(fmt::format("cable{}", cable));
  for (int a = 0; a < 6; ++a) {
    body += fmt::format(
        "<zoneRoute src=\"c{0}\" dst=\"c{1}\" gw_src=\"r{0}\" gw_dst=\"r{1}\">"
        "<link_ctn id=\"cable{0}\"/></zoneRoute>\n",
        a, (a + 1) % 6);
  }
  CHECK(judged_xml(test::platform_xml(body + "</zone>")).starts_with("classes"));
}

TEST_CASE(
    "one pair that breaks the pattern of its classes is found, and every pair is then asked") {
  std::string links = link_xml("detour") + link_xml("middle");
  for (int i = 0; i < 48; ++i) {
    links += link_xml(fmt::format("up{}", i)) + link_xml(fmt::format("down{}", i));
  }
  const auto xml = [&](int odd_from, int odd_to) {
    return full_zone(48, links, [&](int from, int to) {
      return pass(fmt::format("up{}", from)) +
             pass(from == odd_from && to == odd_to ? "detour" : "middle") +
             pass(fmt::format("down{}", to));
    });
  };
  CHECK(judged_xml(xml(-1, -1)) == "classes 1x1");
  std::size_t complete = 0;
  for (int odd = 0; odd < 48; odd += 5) {
    const std::string found = judged_xml(xml(odd, (odd + 7) % 48));
    // Where a probe meets the pair, its ends are classes of their own.
    CHECK((found == "complete 48x48" || found.starts_with("classes ")));
    complete += found == "complete 48x48" ? 1 : 0;
  }
  CHECK(complete > 0);
}

TEST_CASE("equal halves of inner links are held once, on dragonflies and fat trees") {
  const auto links_of_routes_per_link_held = [](const std::string& name,
                                                const std::map<std::string, std::string>& given) {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("p.xml", make_platform(family(name), given));
    return std::stoi(on_platform(path, [](const Platform& platform) {
      const CompactRoutes routes(platform, all_hosts(platform), 0, kClasses);
      std::size_t of_routes = 0;
      routes.for_each_route([&](CompactRoute route) { of_routes += route.hops; });
      return std::to_string(of_routes / routes.all_inner_links().size());
    }));
  };
  CHECK(links_of_routes_per_link_held(
            "dragonfly", {{"groups", "6"}, {"chassis", "4"}, {"routers", "8"}, {"nodes", "2"}}) >=
        2);
  CHECK(links_of_routes_per_link_held("fat_tree",
                                      {{"children", "8,8,8"}, {"oversubscription", "2,1"}}) >= 20);
}

TEST_CASE("a site a host, however ranks are placed") {
  const std::string text =
      on_platform(kPlatforms.file("dragonn_v100"), [](const Platform& platform) -> std::string {
        const std::vector<HostIndex> hosts{5, 2, 5, 11, 2, 2};
        const CompactRoutes routes(platform, hosts);
        if (routes.sites() != 3) return "sites";
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
          if (routes.host_of(routes.site_of(rank)) != hosts[rank]) return "site_of";
        }
        if (routes.switch_of(0) != routes.switch_of(1)) return "switch of a node";
        if (routes.switch_of(0) == routes.switch_of(2)) return "switch of another node";
        if (routes.bytes() == 0 || routes.bytes() > 10'000) return "bytes";
        return wrong_with(platform, routes);
      });
  CHECK(text.empty());
}

TEST_CASE("sites behind one access switch have one switch, whether or not every pair was asked") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "d.xml",
      make_platform(family("dragonfly"),
                    {{"groups", "3"}, {"chassis", "2"}, {"routers", "4"}, {"nodes", "4"}}));
  for (const CompactRoutesLimits& limits : {kAllPairs, kClasses}) {
    const std::string text = on_platform(path, [&](const Platform& platform) -> std::string {
      for (const char* placement : {"block", "random:3"}) {
        const CompactRoutes routes(platform, place(platform.hosts(), 96, placement), 0, limits);
        for (SiteIndex a = 0; a < 96; ++a) {
          for (SiteIndex b = 0; b < 96; ++b) {
            const bool together = a / 4 == b / 4;
            if (together != (routes.switch_of(a) == routes.switch_of(b))) {
              return fmt::format("{} and {}", a, b);
            }
          }
        }
      }
      return {};
    });
    CHECK(text.empty());
  }
}

TEST_CASE("two ranks on one router, and on two, and one alone") {
  const std::string text =
      on_platform(kPlatforms.file("aries_daint"), [](const Platform& platform) -> std::string {
        const auto apart = [&](const std::vector<HostIndex>& hosts) {
          const CompactRoutes routes(platform, hosts);
          const std::string wrong = wrong_with(platform, routes);
          return wrong.empty() ? routes.switch_of(0) != routes.switch_of(1) : throw wrong;
        };
        if (apart({0, 3})) return "one router";
        if (!apart({0, 4})) return "two routers";
        return wrong_with(platform, CompactRoutes(platform, std::vector<HostIndex>{17}));
      });
  CHECK(text.empty());
}

TEST_CASE("a route that is missing is refused with both hosts") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "p.xml",
      test::platform_xml("<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/>"
                         "<host id=\"b\" speed=\"1Gf\"/><host id=\"c\" speed=\"1Gf\"/>" +
                         link_xml("l") +
                         "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>"));
  for (const CompactRoutesLimits& limits : {kAllPairs, kClasses}) {
    const std::string refusal = error_of<InputError>([&] {
      (void)on_platform(path, [&](const Platform& platform) {
        return std::to_string(CompactRoutes(platform, all_hosts(platform), 0, limits).sites());
      });
    });
    CHECK(contains(refusal, "there is no route from "));
    CHECK(contains(refusal, "c"));
  }
}

}  // namespace thinwire::topologies
