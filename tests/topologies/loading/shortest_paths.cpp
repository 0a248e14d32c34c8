// Our routes through Dijkstra zones are SimGrid's own.
#include "topologies/loading/shortest_paths.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/loading/platform.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// The links and the latency of every pair.
std::string all_routes(const std::string& path, std::size_t own_paths_from) {
  std::string text;
  return in_child_process({.subject = path,
                           .prepare =
                               [&] {
                                 const Platform platform(path, {.own_paths_from = own_paths_from});
                                 const std::size_t hosts = platform.hosts().size();
                                 for (HostIndex from = 0; from < hosts; ++from) {
                                   for (HostIndex to = 0; to < hosts; ++to) {
                                     const Route route = platform.route(from, to);
                                     text += fmt::format(
                                         "{} {} {}: {} {:.6g}\n", from, to, route.links.size(),
                                         fmt::join(route.links, "-"), route.latency.value());
                                   }
                                 }
                               },
                           .run = [&] { return text; }})
      .text;
}

}  // namespace

TEST_CASE("our shortest paths are SimGrid's on every pair of nvlink_ib" *
          doctest::test_suite("large")) {
  const std::string path = platform_file("nvlink_ib");
  CHECK((all_routes(path, 0) == all_routes(path, kNever)));
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
    CHECK((all_routes(path, 0) == all_routes(path, kNever)));
  }
}

}  // namespace thinwire::topologies
