#include "topologies/analysis/metrics.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/approx.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "tests/topologies/network.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire::topologies {

namespace {

using test::all_distances;
using test::Network;
using test::random_network;

double unit_cost(const GraphArc&) { return 1; }
double latency_of(const GraphArc& arc) { return arc.latency_s; }

/// The least capacity of arcs from a set of vertices with all of `from` to the rest with all of
/// `to`, tried for every set.
double least_cut(const PlatformGraph& platform, const std::vector<HostIndex>& from,
                 const std::vector<HostIndex>& to) {
  const Graph& graph = platform.graph;
  const std::size_t n = boost::num_vertices(graph);
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t set = 0; set < (std::uint64_t{1} << n); ++set) {
    const auto in = [&](Vertex vertex) { return (set >> vertex & 1U) != 0; };
    const bool right =
        std::ranges::all_of(from, [&](HostIndex h) { return in(platform.vertex_of[h]); }) &&
        std::ranges::none_of(to, [&](HostIndex h) { return in(platform.vertex_of[h]); });
    if (!right) continue;
    double cut = 0;
    for (const auto arc : boost::make_iterator_range(boost::edges(graph))) {
      if (in(boost::source(arc, graph)) && !in(boost::target(arc, graph))) {
        cut += graph[arc].bandwidth;
      }
    }
    least = std::min(least, cut);
  }
  return least;
}

Distances distances_of_family(const std::string& name,
                              const std::map<std::string, std::string>& parameters,
                              double* bisection = nullptr) {
  const test::TemporaryFolder folder;
  const std::string text = test::on_platform(
      folder.write("p.xml", make_platform(family(name), parameters)), [](const Platform& platform) {
        const PlatformGraph graph = graph_of(routes_of(platform));
        const Distances d = distances_of(graph);
        const Bisection b = bisection_of(graph, platform.hosts());
        return fmt::format("{} {} {} {} {} {}", d.diameter_hops, d.diameter_latency.value(),
                           d.route_hops_mean, d.longer_routes, d.slower_routes,
                           b.in_order.value_or(-1));
      });
  Distances d;
  double latency = 0;
  double flow = 0;
  std::istringstream(text) >> d.diameter_hops >> latency >> d.route_hops_mean >> d.longer_routes >>
      d.slower_routes >> flow;
  d.diameter_latency = Seconds(latency);
  if (bisection != nullptr) *bisection = flow;
  return d;
}

}  // namespace

TEST_CASE("distances of random networks are as Floyd and Warshall's algorithm finds them") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Network network = random_network(seed, 7, 2 + seed % 7, seed % 8, seed % 2 == 0);
    const PlatformGraph graph = graph_of(network.table());
    const Distances distances = distances_of(graph);
    const auto hops = all_distances(graph.graph, unit_cost);
    const auto latencies = all_distances(graph.graph, latency_of);
    double most_hops = 0;
    double most_latency = 0;
    double sum = 0;
    std::size_t slower = 0;
    double extra = 0;
    for (const SurveyedPair& pair : graph.survey.pairs) {
      const Vertex from = graph.vertex_of[pair.from];
      const Vertex to = graph.vertex_of[pair.to];
      most_hops = std::max(most_hops, hops[from][to]);
      most_latency = std::max(most_latency, latencies[from][to]);
      sum += pair.hops;
      const double more = pair.latency_s - latencies[from][to];
      slower += more > 1e-12 ? 1 : 0;
      extra = std::max(extra, more);
    }
    CHECK(static_cast<double>(distances.diameter_hops) == most_hops);
    CHECK(distances.diameter_latency.value() == test::approx(most_latency));
    CHECK(distances.route_hops_mean == test::approx(sum / 42));
    CHECK(distances.longer_routes == 0);  // the network's routes have the fewest hops
    CHECK(distances.slower_routes == slower);
    CHECK(std::abs(distances.extra_latency_max.value() - extra) < 1e-15);
    CHECK(distances.all_latency_sources);
  }
}

TEST_CASE("a detour is counted with the hops that it costs") {
  // A ring of four hosts' switches; 0 to 1 the long way.
  const Network ring(4, 4, {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 5}, {5, 6}, {6, 7}, {7, 4}});
  RouteTable table = ring.table();
  table.route = [&](HostIndex from, HostIndex to) -> std::optional<Route> {
    if (from != 0 || to != 1) return ring.route(from, to);
    // 0_UP, 7_DOWN (4 to 7), 6_DOWN (7 to 6), 5_DOWN (6 to 5), 1_DOWN.
    return Route{{0, 15, 13, 11, 3}, Seconds(5e-6)};
  };
  const Distances distances = distances_of(graph_of(table));
  CHECK(distances.longer_routes == 1);
  CHECK(distances.extra_hops_max == 2);
  CHECK(distances.slower_routes == 1);
  CHECK(distances.extra_latency_max.value() == test::approx(2e-6));
  CHECK(distances.diameter_hops == 4);
  CHECK(distances.route_hops_max == 5);
}

TEST_CASE("the maximum flow is the least of all cuts") {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    CAPTURE(seed);
    const Network network = random_network(seed, 6, 1 + seed % 6, 1 + seed % 5, seed % 3 != 0);
    const PlatformGraph graph = graph_of(network.table());
    if (boost::num_vertices(graph.graph) > 14) continue;
    const std::vector<HostIndex> first{0, 1, 2};
    const std::vector<HostIndex> second{3, 4, 5};
    CHECK(max_flow(graph, first, second) == least_cut(graph, first, second));
    CHECK(max_flow(graph, {0}, {5}) == least_cut(graph, {0}, {5}));
    CHECK(bisection_of(graph, network.table().hosts).in_order == least_cut(graph, first, second));
  }
}

TEST_CASE("the bisection of known shapes is what a hand counts") {
  // 3 against 2 hosts on one switch: what 2 can receive.
  const Network star(5, 1, {{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}});
  const Bisection odd = bisection_of(graph_of(star.table()), star.table().hosts);
  CHECK(odd.in_order == 2e9);
  CHECK(odd.random_least == 2e9);
  CHECK(odd.random_halves == 3);
  // One link between the halves; shared, so no more one way than it has.
  const Network dumbbell(4, 2, {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 5, false, 3e8}});
  CHECK(bisection_of(graph_of(dumbbell.table()), dumbbell.table().hosts).in_order == 3e8);
  // Hosts 0 and 2 on one switch, 1 and 3 on the other: halves in order do not see the bottleneck.
  const Network crossed(4, 2, {{0, 4}, {2, 4}, {1, 5}, {3, 5}, {4, 5, true, 3e8}});
  CHECK(bisection_of(graph_of(crossed.table()), crossed.table().hosts).in_order == 2e9);
}

TEST_CASE("no other half, no flow, and a fat pipe, no limit") {
  const Network one(1, 1, {{0, 1}});
  CHECK(!bisection_of(graph_of(one.table()), one.table().hosts).in_order);
  CHECK(!max_flow(graph_of(one.table()), {0}, {}));
  Network fat(4, 1, {{0, 4}, {1, 4}, {2, 4}, {3, 4}});
  for (PlatformLink& link : fat.links()) link.fat_pipe = true;
  CHECK(!bisection_of(graph_of(fat.table()), fat.table().hosts).in_order);
  // One host on an ordinary cable: its half is limited.
  fat.links()[0].fat_pipe = fat.links()[2].fat_pipe = false;
  CHECK(bisection_of(graph_of(fat.table()), fat.table().hosts).in_order == 2e9);
  const Network apart(2, 0, {});
  CHECK(bisection_of(graph_of(apart.table()), apart.table().hosts).in_order == 0);
}

TEST_CASE("hosts of a node stay in one half") {
  // Two nodes of two hosts, 1 GB/s between them and 10 within.
  Network nodes(
      4, 2,
      {{0, 4, true, 1e10}, {1, 4, true, 1e10}, {2, 5, true, 1e10}, {3, 5, true, 1e10}, {4, 5}});
  std::vector<PlatformHost> hosts{{"h0", "x"}, {"h1", "x"}, {"h2", "y"}, {"h3", "y"}};
  RouteTable table = nodes.table();
  table.hosts = hosts;
  const Bisection bisection = bisection_of(graph_of(table), hosts, 20);
  CHECK(bisection.random_least == 1e9);
  for (auto& host : hosts) host.node = host.name;
  // Now some half crosses the nodes and has more, and the least is still the worst.
  CHECK(bisection_of(graph_of(table), hosts, 20).random_least == 1e9);
}

TEST_CASE("figures of generated families agree with formulas") {
  double bisection = 0;
  // 8 hosts of 25 GB/s a leaf, 2 uplinks: 4 leaves, half of them has 2 x 2 uplinks.
  Distances d =
      distances_of_family("fat_tree", {{"children", "8,4"}, {"oversubscription", "4"}}, &bisection);
  CHECK(bisection == 4 * 25e9);
  CHECK(d.diameter_hops == 4);
  CHECK(d.diameter_latency.value() == test::approx(4 * 300e-9));
  CHECK(d.route_hops_mean == test::approx((7 * 2 + 24 * 4) / 31.0));
  // Two groups of one chassis of 4 routers: one blue bundle of 2 cables.
  d = distances_of_family(
      "dragonfly",
      {{"groups", "2"}, {"chassis", "1"}, {"routers", "4"}, {"nodes", "2"}, {"blue-cables", "2"}},
      &bisection);
  CHECK(bisection == 2 * 4.7e9);
  CHECK(d.diameter_hops == 5);
  // Router 2 shares the cable of router 0, also to router 1 of the other group, which would be
  // nearer over its own; and router 3 the cable of router 1. 2 x 2 hosts each, from both groups.
  CHECK(d.longer_routes == 2 * 2 * 2 * 2);
  CHECK(d.slower_routes == 2 * 2 * 2 * 2);
  // 4 nodes, 2 a leaf, one NIC a node, 2:1 above.
  d = distances_of_family("nvlink_ib",
                          {{"nodes", "4"},
                           {"gpus", "2"},
                           {"nics", "1"},
                           {"leaf-nodes", "2"},
                           {"oversubscription", "2"}},
                          &bisection);
  CHECK(bisection == 25e9);
  CHECK(d.diameter_hops == 6);
  CHECK(d.diameter_latency.value() == test::approx(2 * (85e-9 + 1085e-9 + 115e-9)));
}

}  // namespace thinwire::topologies
