#include "topologies/analysis/graph.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "tests/topologies/network.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire::topologies {

namespace {

using test::all_distances;
using test::Network;
using test::on_platform;
using test::random_network;

/// Whether each vertex of the graph is one point of the network, and each arc joins the ends of its
/// link: then the graph never made one switch of two.
bool maps_onto(const PlatformGraph& platform, const Network& network) {
  const Graph& graph = platform.graph;
  std::vector<std::set<std::size_t>> possible(boost::num_vertices(graph));
  std::set<std::size_t> all;
  for (LinkIndex link = 0; link < network.links().size(); ++link) {
    all.insert({network.ends(link).first, network.ends(link).second});
  }
  for (auto& points : possible) points = all;
  const auto keep = [&](Vertex vertex, const std::set<std::size_t>& points) {
    std::set<std::size_t> kept;
    std::ranges::set_intersection(possible[vertex], points, std::inserter(kept, kept.end()));
    possible[vertex] = kept;
  };
  for (HostIndex host = 0; host < network.hosts(); ++host) keep(platform.vertex_of[host], {host});
  // Both ends of an arc are ends of its link, and not the same one; repeated until nothing changes.
  for (std::size_t round = 0; round < boost::num_vertices(graph); ++round) {
    for (const auto arc : boost::make_iterator_range(boost::edges(graph))) {
      const auto [a, b] = network.ends(graph[arc].link);
      const Vertex from = boost::source(arc, graph);
      const Vertex to = boost::target(arc, graph);
      keep(from, {a, b});
      keep(to, {a, b});
      if (possible[from].size() == 1) keep(to, {*possible[from].begin() == a ? b : a});
      if (possible[to].size() == 1) keep(from, {*possible[to].begin() == a ? b : a});
    }
  }
  return std::ranges::all_of(possible, [](const auto& points) { return points.size() == 1; });
}

double one_hop(const GraphArc&) { return 1; }

/// "hosts/junctions/arcs/diameter/longest route/guesses/unused" of the graph of a platform file.
std::string figures_of(const std::string& path) {
  return on_platform(path, [](const Platform& platform) {
    const PlatformGraph graph = graph_of(routes_of(platform));
    const auto distances = all_distances(graph.graph, one_hop);
    double diameter = 0;
    std::uint32_t longest = 0;
    for (const SurveyedPair& pair : graph.survey.pairs) {
      diameter =
          std::max(diameter, distances[graph.vertex_of[pair.from]][graph.vertex_of[pair.to]]);
      longest = std::max(longest, pair.hops);
    }
    return fmt::format("{}/{}/{}/{}/{}/{}/{}", graph.hosts(), graph.junctions(),
                       boost::num_edges(graph.graph), diameter, longest, graph.guesses,
                       graph.never_used.size());
  });
}

std::string figures_of_xml(const std::string& body) {
  const test::TemporaryFolder folder;
  return figures_of(folder.write("p.xml", test::platform_xml(body)));
}

std::string figures_of_family(const std::string& name,
                              const std::map<std::string, std::string>& parameters) {
  const test::TemporaryFolder folder;
  return figures_of(folder.write("p.xml", make_platform(family(name), parameters)));
}

}  // namespace

TEST_CASE("the graph of random full-duplex networks has their ends and their distances") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Network network = random_network(seed, 8, 1 + seed % 9, seed % 6, true);
    const PlatformGraph graph = graph_of(network.table());
    CHECK(graph.guesses == 0);
    CHECK(maps_onto(graph, network));
    const auto distances = all_distances(graph.graph, one_hop);
    for (const SurveyedPair& pair : graph.survey.pairs) {
      CHECK(distances[graph.vertex_of[pair.from]][graph.vertex_of[pair.to]] == pair.hops);
    }
    CHECK(graph.survey.pairs.size() == 8 * 7);
    CHECK(graph.survey.all_pairs);
  }
}

TEST_CASE("the graph of random networks of shared links has their ends wherever routes tell them") {
  int sure = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Network network = random_network(seed, 8, 1 + seed % 9, seed % 6, false);
    const PlatformGraph graph = graph_of(network.table());
    if (graph.guesses > 0) continue;
    ++sure;
    CHECK(maps_onto(graph, network));
    const auto distances = all_distances(graph.graph, one_hop);
    for (const SurveyedPair& pair : graph.survey.pairs) {
      CHECK(distances[graph.vertex_of[pair.from]][graph.vertex_of[pair.to]] == pair.hops);
    }
  }
  CHECK(sure == 60);
}

TEST_CASE("one shared link between two hosts is two arcs, and a link used one way is one") {
  const Network two(2, 0, {{0, 1, false}});
  CHECK(boost::num_edges(graph_of(two.table()).graph) == 2);
  RouteTable table = two.table();
  table.route = [&](HostIndex from, HostIndex to) -> std::optional<Route> {
    if (from == 1 && to == 0) return std::nullopt;
    return two.route(from, to);
  };
  const PlatformGraph graph = graph_of(table);
  CHECK(boost::num_edges(graph.graph) == 1);
  CHECK(graph.survey.unreachable == std::vector<std::pair<HostIndex, HostIndex>>{{1, 0}});
}

TEST_CASE("hosts without any route stay alone") {
  const Network network(3, 1, {{0, 3}, {1, 3}});
  const PlatformGraph graph = graph_of(network.table());
  CHECK(graph.survey.unreachable.size() == 4);
  CHECK(graph.junctions() == 1);
  CHECK(boost::out_degree(graph.vertex_of[2], graph.graph) == 0);
}

TEST_CASE("no hosts and one host make a graph") {
  CHECK(graph_of(Network(0, 0, {}).table()).hosts() == 0);
  const PlatformGraph graph = graph_of(Network(1, 1, {{0, 1}}).table());
  CHECK(graph.hosts() == 1);
  CHECK(graph.survey.pairs.empty());
  CHECK(graph.never_used.size() == 2);
}

TEST_CASE("links on no route are reported, and loopbacks are not") {
  Network network(2, 1, {{0, 2}, {1, 2}, {2, 2, false}});
  network.links().push_back({"loop", 1e9, Seconds(0), true});
  RouteTable table = network.table();
  table.route = [&](HostIndex from, HostIndex to) -> std::optional<Route> {
    if (from == to) return Route{{5}, Seconds(0)};
    return network.route(from, to);
  };
  const PlatformGraph graph = graph_of(table);
  CHECK(graph.never_used == std::vector<LinkIndex>{4});
  CHECK(graph.survey.loopback[5]);
  CHECK(graph.junctions() == 1);
}

TEST_CASE("a sample of the pairs of a large network shows the whole graph") {
  // 200 hosts on 20 switches.
  const Network network = random_network(3, 200, 20, 15, true);
  const PlatformGraph all = graph_of(network.table(), {.all_pairs_up_to = 200, .most_pairs = 0});
  const PlatformGraph sample =
      graph_of(network.table(), {.all_pairs_up_to = 10, .most_pairs = 10'000});
  CHECK(all.survey.all_pairs);
  CHECK(!sample.survey.all_pairs);
  CHECK(sample.survey.pairs.size() < 10'000);
  CHECK(sample.junctions() == all.junctions());
  CHECK(boost::num_edges(sample.graph) == boost::num_edges(all.graph));
  CHECK(sample.never_used == all.never_used);
  CHECK(maps_onto(sample, network));
}

// hosts / junctions / arcs / diameter / longest route / guesses / unused links, counted by hand.

TEST_CASE("the graph of SimGrid's clusters is a star") {
  const std::string attributes =
      "prefix=\"n-\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" id=\"c\"";
  const auto cluster = [&](const std::string& more) {
    return figures_of_xml(fmt::format("<cluster {} {}/>", attributes, more));
  };
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SPLITDUPLEX\"") == "5/1/10/2/2/0/0");
  CHECK(cluster("radical=\"0-1\" sharing_policy=\"SPLITDUPLEX\"") == "2/1/4/2/2/0/0");
  // One host has no route, but one to itself; its links are loopbacks.
  CHECK(cluster("radical=\"0-0\" sharing_policy=\"SPLITDUPLEX\"") == "1/0/0/0/0/0/0");
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SHARED\"") == "5/1/10/2/2/0/0");
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"FATPIPE\"") == "5/1/10/2/2/0/0");
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SPLITDUPLEX\" loopback_bw=\"9GBps\" "
                "loopback_lat=\"0s\"") == "5/1/10/2/2/0/0");
  // A backbone is an arc from the switch's entry to its exit.
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SPLITDUPLEX\" bb_bw=\"2GBps\" bb_lat=\"1us\"") ==
        "5/2/11/3/3/0/0");
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SHARED\" bb_bw=\"2GBps\" bb_lat=\"1us\"") ==
        "5/2/11/3/3/0/0");
  // A limiter stands between each host and its link.
  CHECK(cluster("radical=\"0-4\" sharing_policy=\"SHARED\" limiter_link=\"2GBps\"") ==
        "5/6/20/4/4/0/0");
}

TEST_CASE("the graph of a fat tree has its switches and its cables") {
  // 4 leaves of 4 hosts, 2 spines.
  CHECK(figures_of_family("fat_tree", {{"children", "4,4"}, {"oversubscription", "2"}}) ==
        "16/6/48/4/4/0/0");
  // 2 leaves of 2 hosts, 2 spines.
  CHECK(figures_of_family("fat_tree", {{"children", "2,2"}, {"oversubscription", "1"}}) ==
        "4/4/16/4/4/0/0");
  // 8 leaves of 2 hosts; 2 pods of 4 leaves and 2 switches above; 8 switches at the top.
  CHECK(figures_of_family("fat_tree", {{"children", "2,4,2"}, {"oversubscription", "1,1"}}) ==
        "16/20/96/6/6/0/0");
}

TEST_CASE("the graph of a dragonfly has its routers, and routes that are as short as can be") {
  // 3 groups of 2 chassis of 3 routers of 2 nodes: 36 + 18 green + 9 black + 3 blue cables.
  CHECK(figures_of_family("dragonfly", {{"groups", "3"},
                                        {"chassis", "2"},
                                        {"routers", "3"},
                                        {"nodes", "2"},
                                        {"blue-cables", "1"}}) == "36/18/132/7/7/0/0");
  // 2 cables between two groups end on both routers of each: 8 + 4 green + 12 blue cables.
  CHECK(figures_of_family("dragonfly", {{"groups", "4"},
                                        {"chassis", "1"},
                                        {"routers", "2"},
                                        {"nodes", "1"},
                                        {"blue-cables", "2"}})
            .starts_with("8/8/48/"));
  // One group, one chassis: 8 nodes, 6 green cables.
  CHECK(figures_of_family("dragonfly",
                          {{"groups", "1"}, {"chassis", "1"}, {"routers", "4"}, {"nodes", "2"}}) ==
        "8/4/28/3/3/0/0");
}

TEST_CASE("the graph of a Dragonfly+ has its leaves, its spines and its cables") {
  // 2 cells of 3 leaves of 2 hosts and 2 spines: 12 + 12 uplinks + 2 cables between the cells.
  CHECK(figures_of_family("dragonfly_plus", {{"cells", "2"},
                                             {"leaves", "3"},
                                             {"spines", "2"},
                                             {"nodes", "2"},
                                             {"global-cables", "2"}}) == "12/10/52/5/5/0/0");
}

TEST_CASE("the graph of NVLink nodes has their switches, leaves and core") {
  // 4 nodes of 2 GPUs, one NIC; 2 leaves and a core: 8 + 4 + 2 cables.
  CHECK(figures_of_family("nvlink_ib",
                          {{"nodes", "4"}, {"gpus", "2"}, {"nics", "1"}, {"leaf-nodes", "2"}}) ==
        "8/7/28/6/6/0/0");
  // On rails with a NIC for each GPU: 8 + 8 + 4 cables; 4 switches, 4 leaves, 1 core.
  CHECK(figures_of_family("nvlink_ib",
                          {{"nodes", "4"}, {"gpus", "2"}, {"nics", "2"}, {"leaf-nodes", "2"}}) ==
        "8/9/40/4/4/0/0");
  // Two GPUs a NIC: 8 NVLinks and 8 PCIe links, 4 NICs, 2 leaves, a core; 4 switches and 4 PCIe
  // switches.
  CHECK(figures_of_family("nvlink_ib",
                          {{"nodes", "2"}, {"gpus", "4"}, {"nics", "2"}, {"leaf-nodes", "2"}}) ==
        "8/9/44/6/6/0/0");
}

TEST_CASE("zones of every routing, and zones in zones, become one graph") {
  const std::string parts =
      "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><host id=\"c\" speed=\"1Gf\"/>"
      "<router id=\"r\"/><router id=\"s\"/>"
      "<link id=\"la\" bandwidth=\"1GBps\" latency=\"1us\"/>"
      "<link id=\"lb\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
      "<link id=\"lc\" bandwidth=\"1GBps\" latency=\"1us\"/>"
      "<link id=\"rs\" bandwidth=\"1GBps\" latency=\"1us\"/>";
  const std::string links =
      "<route src=\"a\" dst=\"r\"><link_ctn id=\"la\"/></route>"
      "<route src=\"b\" dst=\"r\"><link_ctn id=\"lb\" direction=\"UP\"/></route>"
      "<route src=\"r\" dst=\"s\"><link_ctn id=\"rs\"/></route>"
      "<route src=\"s\" dst=\"c\"><link_ctn id=\"lc\"/></route>";
  for (const char* routing : {"Floyd", "Dijkstra", "DijkstraCache"}) {
    CAPTURE(std::string(routing));
    CHECK(figures_of_xml(fmt::format("<zone id=\"z\" routing=\"{}\">{}{}</zone>", routing, parts,
                                     links)) == "3/2/8/3/3/0/0");
  }
  CHECK(figures_of_xml(
            fmt::format("<zone id=\"z\" routing=\"Full\">{}"
                        "<route src=\"a\" dst=\"b\"><link_ctn id=\"la\"/>"
                        "<link_ctn id=\"lb\" direction=\"DOWN\"/></route>"
                        "<route src=\"a\" dst=\"c\"><link_ctn id=\"la\"/><link_ctn id=\"rs\"/>"
                        "<link_ctn id=\"lc\"/></route>"
                        "<route src=\"b\" dst=\"c\"><link_ctn id=\"lb\" direction=\"UP\"/>"
                        "<link_ctn id=\"rs\"/><link_ctn id=\"lc\"/></route></zone>",
                        parts)) == "3/2/8/3/3/0/0");

  const auto cluster = [](const std::string& id, const std::string& radical, const char* more) {
    return fmt::format(
        "<cluster id=\"{0}\" prefix=\"n-\" suffix=\"\" radical=\"{1}\" speed=\"1Gf\" bw=\"1GBps\" "
        "lat=\"1us\" sharing_policy=\"SPLITDUPLEX\" router_id=\"{0}_r\" {2}/>",
        id, radical, more);
  };
  const std::string join =
      "<link id=\"wan\" bandwidth=\"1GBps\" latency=\"1ms\" sharing_policy=\"{}\"/>"
      "<zoneRoute src=\"x\" dst=\"y\" gw_src=\"x_r\" gw_dst=\"y_r\">"
      "<link_ctn id=\"wan\"{}/></zoneRoute></zone>";
  const auto two = [&](const char* more, const std::string& policy, const std::string& direction) {
    return figures_of_xml("<zone id=\"w\" routing=\"Full\">" + cluster("x", "0-2", more) +
                          cluster("y", "3-4", more) +
                          fmt::format(fmt::runtime(join), policy, direction));
  };
  CHECK(two("", "SPLITDUPLEX", " direction=\"UP\"") == "5/2/12/3/3/0/0");
  CHECK(two("", "SHARED", "") == "5/2/12/3/3/0/0");
  CHECK(two("bb_bw=\"1GBps\" bb_lat=\"1us\"", "SHARED", "") == "5/4/14/5/5/0/0");
}

}  // namespace thinwire::topologies
