// Fat trees that we connect are SimGrid's own.
#include "topologies/loading/fat_tree_cables.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

namespace {

/// Every link with its figures, every router, and every pair's links and latency.
std::string described(const std::string& path, bool own_paths) {
  std::string text;
  return in_child_process({.subject = path,
                           .prepare =
                               [&] {
                                 const Platform platform(path, {.own_paths = own_paths});
                                 const std::span<const PlatformHost> hosts = platform.hosts();
                                 for (const PlatformLink& link : platform.links()) {
                                   text += fmt::format("{} {} {} {}\n", link.name, link.bandwidth,
                                                       link.latency.value(), link.fat_pipe);
                                 }
                                 text += fmt::format("{}\n", fmt::join(platform.routers(), " "));
                                 for (HostIndex from = 0; from < hosts.size(); ++from) {
                                   for (HostIndex to = 0; to < hosts.size(); ++to) {
                                     const Route route = platform.route(from, to);
                                     text += fmt::format(
                                         "{} {}: {} {}\n", hosts[from].name, hosts[to].name,
                                         fmt::join(route.links, "-"), route.latency.value());
                                   }
                                 }
                               },
                           .run = [&] { return text; }})
      .text;
}

/// A platform of one cluster or several, whose links and routes equal SimGrid's own trees'.
void check_as_simgrid(const std::string& body) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("p.xml", test::platform_xml(body));
  CAPTURE(body);
  const std::string ours = described(path, true);
  CHECK((ours == described(path, false)));
  CHECK(ours.find("link_from_") != std::string::npos);
}

/// `tree` as in topo_parameters: levels, children, parents and parallel cables.
std::string tree_xml(const std::string& tree, int hosts,
                     const std::string& more = "sharing_policy=\"SPLITDUPLEX\"",
                     const std::string& id = "tree", int first = 0) {
  return fmt::format(
      "<cluster id=\"{0}\" prefix=\"{0}-\" suffix=\"\" radical=\"{1}-{2}\" speed=\"1Gf\" "
      "topology=\"FAT_TREE\" topo_parameters=\"{3}\" bw=\"3GBps\" lat=\"700ns\" {4}/>",
      id, first, first + hosts - 1, tree, more);
}

}  // namespace

TEST_CASE("fat trees of many shapes have SimGrid's links, and its routes on every pair") {
  for (const auto& [tree, hosts] :
       {std::pair{"1;1;1;1", 1}, std::pair{"1;7;1;1", 7}, std::pair{"1;5;3;2", 5},
        std::pair{"2;4,4;1,2;1,1", 16}, std::pair{"2;4,4;1,2;1,2", 16},
        std::pair{"2;3,5;2,3;1,2", 15}, std::pair{"2;1,6;1,4;3,1", 6},
        std::pair{"3;2,3,5;1,2,3;1,1,1", 30}, std::pair{"3;3,2,4;2,3,2;2,1,3", 24},
        std::pair{"3;4,4,4;1,4,4;1,1,1", 64}, std::pair{"4;2,2,3,2;1,2,1,3;1,2,1,1", 24}}) {
    check_as_simgrid(tree_xml(tree, hosts));
  }
}

TEST_CASE("fat trees with limiters, loopbacks and any sharing policy are SimGrid's") {
  for (const char* policy : {"SPLITDUPLEX", "SHARED", "FATPIPE"}) {
    for (const char* more :
         {"", "limiter_link=\"2GBps\"", "loopback_bw=\"9GBps\" loopback_lat=\"50ns\"",
          "limiter_link=\"2GBps\" loopback_bw=\"9GBps\" loopback_lat=\"50ns\"",
          "bb_bw=\"8GBps\" bb_lat=\"1us\" router_id=\"way-out\""}) {
      check_as_simgrid(
          tree_xml("2;3,4;2,2;1,2", 12, fmt::format("sharing_policy=\"{}\" {}", policy, more)));
    }
  }
}

TEST_CASE("a fat tree within zones, beside other clusters or other fat trees is SimGrid's") {
  const std::string one = tree_xml("2;3,2;1,2;1,1", 6, "", "link_from_0_", 5);
  const std::string two = tree_xml("2;2,3;1,2;1,2", 6, "", "other", 0);
  const std::string cluster =
      "<cluster id=\"link_from_0_c\" prefix=\"c-\" suffix=\"\" radical=\"0-2\" speed=\"1Gf\" "
      "bw=\"1GBps\" lat=\"1us\"/>";
  const std::string between = "<link id=\"link_from_0_x\" bandwidth=\"1GBps\" latency=\"1us\"/>";
  const auto route = [](const char* from, const char* from_gateway, const char* to,
                        const char* to_gateway) {
    return fmt::format(
        "<zoneRoute src=\"{}\" dst=\"{}\" gw_src=\"{}\" gw_dst=\"{}\">"
        "<link_ctn id=\"link_from_0_x\"/></zoneRoute>",
        from, to, from_gateway, to_gateway);
  };
  const auto world = [](const std::string& body) {
    return "<zone id=\"world\" routing=\"Full\">" + body + "</zone>";
  };
  check_as_simgrid(world("<zone id=\"inner\" routing=\"Full\">" + one + "</zone>"));
  check_as_simgrid(
      world(cluster + one + between +
            route("link_from_0_c", "c-link_from_0_c_router", "link_from_0_", "link_from_0_-7")));
  check_as_simgrid(
      world(one + two + between + route("link_from_0_", "link_from_0_-7", "other", "other-0")));
}

TEST_CASE("a fat tree of 32,768 hosts is loaded in seconds" * doctest::test_suite("large")) {
  // Of processor time. SimGrid's own way was not ready after two minutes; this takes one second.
  const test::TemporaryFolder folder;
  const std::string path =
      folder.write("p.xml", test::platform_xml(tree_xml("3;4,4,2048;1,4,4;1,1,1", 32'768)));
  const std::string text = test::on_platform(path, [](const Platform& platform) {
    return fmt::format("{} {}", platform.links().size(),
                       static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC));
  });
  const std::size_t space = text.find(' ');
  const int cables = 32'768 + 8192 * 4 + 8192 * 4;
  CHECK(std::stoi(text.substr(0, space)) == 2 * cables + 1);  // and SimGrid's loopback
  CHECK(std::stod(text.substr(space)) < 15);
}

}  // namespace thinwire::topologies
