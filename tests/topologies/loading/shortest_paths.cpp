// Our routes through Dijkstra zones are SimGrid's own.
#include "topologies/loading/shortest_paths.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

enum class Order : std::uint8_t { of_travel, of_links };

/// The links and the latency of every pair.
std::string all_routes(const std::string& path, bool own_paths, Order order) {
  std::string text;
  return in_child_process({.subject = path,
                           .prepare =
                               [&] {
                                 const Platform platform(path, {.own_paths = own_paths});
                                 const std::size_t hosts = platform.hosts().size();
                                 for (HostIndex from = 0; from < hosts; ++from) {
                                   for (HostIndex to = 0; to < hosts; ++to) {
                                     Route route = platform.route(from, to);
                                     if (order == Order::of_links) std::ranges::sort(route.links);
                                     text += fmt::format(
                                         "{} {} {}: {} {:.6g}\n", from, to, route.links.size(),
                                         fmt::join(route.links, "-"), route.latency.value());
                                   }
                                 }
                               },
                           .run = [&] { return text; }})
      .text;
}

/// Checks that the routes equal the routes of SimGrid's own zones.
void check_routes(const std::string& path, Order order = Order::of_travel) {
  CHECK((all_routes(path, true, order) == all_routes(path, false, order)));
}

/// A Dijkstra zone of hosts and routers named after it, the routers in a ring that hosts are spread
/// over, with its links and routes.
std::string ring_zone(const std::string& name, int hosts, int routers) {
  std::string points;
  std::string routes;
  const auto connect = [&](const std::string& a, const std::string& b) {
    points += fmt::format(
        "<link id=\"{0}-{1}\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>",
        a, b);
    routes += fmt::format(
        "<route src=\"{0}\" dst=\"{1}\"><link_ctn id=\"{0}-{1}\" direction=\"UP\"/></route>", a, b);
  };
  const auto router = [&](int i) { return fmt::format("{}r{}", name, i % routers); };
  for (int i = 0; i < hosts; ++i) {
    points += fmt::format("<host id=\"{}h{}\" speed=\"1Gf\"/>", name, i);
  }
  for (int i = 0; i < routers; ++i) points += fmt::format("<router id=\"{}\"/>", router(i));
  for (int i = 0; i < hosts; ++i) connect(fmt::format("{}h{}", name, i), router(i));
  for (int i = 0; routers > 1 && i < routers - (routers == 2 ? 1 : 0); ++i) {
    connect(router(i), router(i + 1));
  }
  return fmt::format("<zone id=\"{}\" routing=\"Dijkstra\">{}{}</zone>", name, points, routes);
}

/// Zones of 5 hosts in a row, within a zone of `routing`; messages pass through zones by their
/// first router.
std::string nested(const std::string& routing, int zones, bool bypass = false) {
  std::string body = fmt::format("<zone id=\"world\" routing=\"{}\">", routing);
  std::string links;
  std::string routes;
  for (int i = 0; i < zones; ++i) {
    body += ring_zone(fmt::format("z{}", i), 5, 4);
    if (i == 0) continue;
    links += fmt::format("<link id=\"between{}\" bandwidth=\"2GBps\" latency=\"{}us\"/>", i, i);
    routes += fmt::format(
        "<zoneRoute src=\"z{0}\" dst=\"z{1}\" gw_src=\"z{0}r0\" gw_dst=\"z{1}r0\">"
        "<link_ctn id=\"between{1}\"/></zoneRoute>",
        i - 1, i);
  }
  if (bypass) {
    links += "<link id=\"short\" bandwidth=\"5GBps\" latency=\"1us\"/>";
    routes +=
        "<bypassZoneRoute src=\"z0\" dst=\"z2\" gw_src=\"z0r1\" gw_dst=\"z2r2\">"
        "<link_ctn id=\"short\"/></bypassZoneRoute>";
  }
  return test::platform_xml(body + links + routes + "</zone>");
}

}  // namespace

TEST_CASE("our shortest paths are SimGrid's on every pair of nvlink_ib" *
          doctest::test_suite("large")) {
  const std::string path = kPlatforms.file("nvlink_ib");
  check_routes(path);
}

TEST_CASE("our shortest paths are SimGrid's in zones within zones") {
  const test::TemporaryFolder folder;
  int number = 0;
  for (const std::string& xml : {nested("Dijkstra", 3), nested("DijkstraCache", 4),
                                 nested("Floyd", 3), nested("Dijkstra", 3, true)}) {
    CAPTURE(xml);
    // SimGrid puts what is inside a Dijkstra zone in front of what was passed before.
    check_routes(folder.write(fmt::format("p{}.xml", number++), xml), Order::of_links);
  }
}

TEST_CASE("a route through zones within zones has its links in the order of travel") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("p.xml", nested("Full", 2));
  const std::string text = test::on_platform(path, [](const Platform& platform) {
    std::string passed;
    for (const LinkIndex link :
         platform.route(0, static_cast<HostIndex>(platform.hosts().size() - 1)).links) {
      passed += platform.links()[link].name + " ";
    }
    return passed;
  });
  CHECK(text == "z0h0-z0r0_UP between1 z1h4-z1r0_DOWN ");
}

TEST_CASE("names that end like the names of a cable's two directions make no cable") {
  const test::TemporaryFolder folder;
  check_routes(folder.write(
      "p.xml",
      test::platform_xml("<zone id=\"z\" routing=\"Dijkstra\">"
                         "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
                         "<link id=\"l_UP\" bandwidth=\"1GBps\" latency=\"1us\"/>"
                         "<link id=\"l_DOWN\" bandwidth=\"2GBps\" latency=\"2us\"/>"
                         "<route src=\"a\" dst=\"b\"><link_ctn id=\"l_UP\"/></route></zone>")));
}

TEST_CASE("the routes of 512 hosts and 130 switches are ready in seconds" *
          doctest::test_suite("large")) {
  // Of processor time. SimGrid's own took 66 s; this takes one second.
  const test::TemporaryFolder folder;
  for (const std::string& xml :
       {test::platform_xml(ring_zone("z", 512, 130)), nested("Dijkstra", 100)}) {
    const std::string path = folder.write("p.xml", xml);
    const auto seconds = [] {
      return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
    };
    const std::string text =
        in_child_process({.subject = path,
                          .run =
                              [&] {
                                const double begin = seconds();
                                const Platform platform(path);
                                std::vector<HostIndex> hosts(platform.hosts().size());
                                std::iota(hosts.begin(), hosts.end(), HostIndex{0});
                                const CompactRoutes routes(platform, hosts);
                                return fmt::format("{}", seconds() - begin);
                              }})
            .text;
    CHECK(std::stod(text) < 20);
  }
}

TEST_CASE("our shortest paths are SimGrid's where many ways are as short, and of several links") {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto draw = [&](std::uint64_t a, std::uint64_t b) { return random_bits(seed, a, b); };
    constexpr std::uint64_t kPoints = 24;
    const auto point = [](std::uint64_t i) { return fmt::format("{}{}", i < 16 ? 'h' : 'r', i); };
    std::string body =
        fmt::format("<zone id=\"z\" routing=\"{}\">", seed % 2 == 0 ? "DijkstraCache" : "Dijkstra");
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      body += i < 16 ? fmt::format("<host id=\"{}\" speed=\"1Gf\"/>", point(i))
                     : fmt::format("<router id=\"{}\"/>", point(i));
    }
    std::string routes;
    for (std::uint64_t a = 0; a < kPoints; ++a) {
      for (std::uint64_t b = a + 1; b < kPoints; ++b) {
        if (b != a + 1 && draw(a, b) % 6 != 0) continue;
        std::string passed;
        for (std::uint64_t i = 0; i < 1 + draw(b, a) % 3; ++i) {
          const std::string name = fmt::format("l{}-{}-{}", a, b, i);
          const bool duplex = draw(a + b, i) % 2 == 0;
          body += fmt::format("<link id=\"{}\" bandwidth=\"1GBps\" latency=\"1us\"{}/>", name,
                              duplex ? " sharing_policy=\"SPLITDUPLEX\"" : "");
          passed +=
              fmt::format("<link_ctn id=\"{}\"{}/>", name,
                          duplex ? (i == 1 ? " direction=\"DOWN\"" : " direction=\"UP\"") : "");
        }
        routes +=
            fmt::format("<route src=\"{}\" dst=\"{}\">{}</route>", point(a), point(b), passed);
      }
    }
    const std::string path = folder.write("p.xml", test::platform_xml(body + routes + "</zone>"));
    CAPTURE(seed);
    check_routes(path);
  }
}

}  // namespace thinwire::topologies
