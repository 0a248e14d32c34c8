#include "topologies/analysis/metrics.hpp"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "sim/core/base/random.hpp"

namespace thinwire::topologies {

namespace {

// --- distances

constexpr std::size_t kMostLatencySources = 512;

using Flat = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, double>;

/// The graph in a form that is fast to search; an arc's property is its latency.
Flat flatten(const Graph& graph) {
  std::vector<std::pair<Vertex, Vertex>> ends;
  std::vector<double> latencies;
  for (const auto arc : boost::make_iterator_range(boost::edges(graph))) {
    ends.emplace_back(boost::source(arc, graph), boost::target(arc, graph));
    latencies.push_back(graph[arc].latency_s);
  }
  return {boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), latencies.begin(),
          boost::num_vertices(graph)};
}

/// A source of searches. Hosts with a single outgoing link start at its end and share the result.
struct Source {
  struct Start {
    HostIndex host;
    std::size_t hops;
    double latency_s;
  };
  Vertex vertex{};
  std::vector<Start> starts;
};

std::vector<Source> sources_of(const PlatformGraph& platform) {
  const Graph& graph = platform.graph;
  std::map<Vertex, Source> by_vertex;
  for (HostIndex host = 0; host < platform.hosts(); ++host) {
    const Vertex vertex = platform.vertex_of[host];
    Vertex start = vertex;
    Source::Start offset{host, 0, 0};
    if (boost::out_degree(vertex, graph) == 1) {
      const auto arc = *boost::out_edges(vertex, graph).first;
      const Vertex next = boost::target(arc, graph);
      if (graph[next].kind == VertexKind::junction) {
        start = next;
        offset = {host, 1, graph[arc].latency_s};
      }
    }
    by_vertex[start].vertex = start;
    by_vertex[start].starts.push_back(offset);
  }
  std::vector<Source> sources;
  for (auto& [vertex, source] : by_vertex) sources.push_back(std::move(source));
  return sources;
}

constexpr std::size_t kNoWay = std::numeric_limits<std::size_t>::max();

std::vector<std::size_t> hops_from(const Flat& graph, Vertex start) {
  std::vector<std::size_t> hops(boost::num_vertices(graph), kNoWay);
  hops[start] = 0;
  boost::breadth_first_search(graph, start,
                              boost::visitor(boost::make_bfs_visitor(
                                  boost::record_distances(hops.data(), boost::on_tree_edge()))));
  return hops;
}

std::vector<double> latencies_from(const Flat& graph, Vertex start) {
  std::vector<double> latencies(boost::num_vertices(graph));
  boost::dijkstra_shortest_paths_no_color_map(
      graph, start,
      boost::weight_map(boost::get(boost::edge_bundle, graph))
          .distance_map(boost::make_iterator_property_map(latencies.begin(),
                                                          boost::get(boost::vertex_index, graph)))
          .distance_inf(std::numeric_limits<double>::infinity()));
  return latencies;
}

/// The surveyed routes that start at a host.
std::span<const SurveyedPair> routes_from(const Survey& survey, HostIndex host) {
  const auto first = std::ranges::lower_bound(survey.pairs, host, {}, &SurveyedPair::from);
  const auto last = std::ranges::upper_bound(survey.pairs, host, {}, &SurveyedPair::from);
  return {first, last};
}

void summarise_routes(const Survey& survey, Distances& result) {
  double hops = 0;
  double latency = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const SurveyedPair& pair : survey.pairs) {
    hops += pair.hops;
    latency += pair.latency_s;
    least = std::min(least, pair.latency_s);
    most = std::max(most, pair.latency_s);
    result.route_hops_max = std::max<std::size_t>(result.route_hops_max, pair.hops);
  }
  result.routes = survey.pairs.size();
  if (survey.pairs.empty()) return;
  result.route_hops_mean = hops / static_cast<double>(result.routes);
  result.route_latency_mean = Seconds(latency / static_cast<double>(result.routes));
  result.route_latency_min = Seconds(least);
  result.route_latency_max = Seconds(most);
}

void compare_hops(const PlatformGraph& platform, const Source& source,
                  const std::vector<std::size_t>& hops, Distances& result) {
  for (const Source::Start& start : source.starts) {
    for (HostIndex to = 0; to < platform.hosts(); ++to) {
      const std::size_t way = hops[platform.vertex_of[to]];
      if (to == start.host || way == kNoWay) continue;
      result.diameter_hops = std::max(result.diameter_hops, start.hops + way);
    }
    for (const SurveyedPair& pair : routes_from(platform.survey, start.host)) {
      const std::size_t way = hops[platform.vertex_of[pair.to]];
      if (way == kNoWay || pair.hops <= start.hops + way) continue;
      ++result.longer_routes;
      result.extra_hops_max = std::max(result.extra_hops_max, pair.hops - start.hops - way);
    }
  }
}

void compare_latencies(const PlatformGraph& platform, const Source& source,
                       const std::vector<double>& latencies, Distances& result) {
  double diameter = result.diameter_latency.value();
  double extra = result.extra_latency_max.value();
  for (const Source::Start& start : source.starts) {
    for (HostIndex to = 0; to < platform.hosts(); ++to) {
      const double least = start.latency_s + latencies[platform.vertex_of[to]];
      if (to != start.host && std::isfinite(least)) diameter = std::max(diameter, least);
    }
    for (const SurveyedPair& pair : routes_from(platform.survey, start.host)) {
      const double more = pair.latency_s - start.latency_s - latencies[platform.vertex_of[pair.to]];
      if (!(more > kSameLatency)) continue;
      ++result.slower_routes;
      extra = std::max(extra, more);
    }
  }
  result.diameter_latency = Seconds(diameter);
  result.extra_latency_max = Seconds(extra);
}

// --- flows

/// Capacities are integers, so that sums are exact.
using Capacity = std::int64_t;

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct FlowArc {
  Capacity capacity = 0;
  Capacity residual = 0;
  FlowTraits::edge_descriptor reverse;
};
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, FlowArc>;

/// Bandwidths as capacities. A fat pipe has the capacity of all other links together plus one,
/// which no cut without a fat pipe reaches.
class Capacities {
 public:
  Capacities(const Graph& graph, std::size_t ports) : graph_(graph) {
    double sum = 0;
    for (const auto arc : boost::make_iterator_range(boost::edges(graph))) {
      if (!graph[arc].fat_pipe) sum += graph[arc].bandwidth;
    }
    // The sum of all ports must fit a Capacity even if each of them is a fat pipe.
    constexpr double kMost = 4e18;
    unit_ = std::max(1.0, (sum + 1) * static_cast<double>(ports + 1) / kMost);
    unlimited_ = std::llround(sum / unit_) + 1;
  }

  [[nodiscard]] Capacity unlimited() const { return unlimited_; }
  [[nodiscard]] double bandwidth(Capacity capacity) const {
    return static_cast<double>(capacity) * unit_;
  }
  [[nodiscard]] Capacity of(const GraphArc& arc) const {
    return arc.fat_pipe ? unlimited_ : std::llround(arc.bandwidth / unit_);
  }
  /// The largest rate at which a host can send, or receive.
  [[nodiscard]] Capacity out_of(Vertex host) const {
    return sum_of(boost::out_edges(host, graph_));
  }
  [[nodiscard]] Capacity into(Vertex host) const { return sum_of(boost::in_edges(host, graph_)); }

 private:
  template <class Arcs>
  [[nodiscard]] Capacity sum_of(const Arcs& arcs) const {
    Capacity sum = 0;
    for (const auto arc : boost::make_iterator_range(arcs)) sum += of(graph_[arc]);
    return std::min(sum, unlimited_);
  }

  const Graph& graph_;
  double unit_ = 1;  ///< bytes per second
  Capacity unlimited_ = 0;
};

void add_flow_arc(FlowGraph& graph, Vertex from, Vertex to, Capacity capacity) {
  const auto arc = boost::add_edge(from, to, graph).first;
  const auto reverse = boost::add_edge(to, from, graph).first;
  graph[arc].capacity = capacity;
  graph[arc].reverse = reverse;
  graph[reverse].reverse = arc;
}

/// Splits the hosts into halves, taking whole nodes in shuffled order.
std::pair<std::vector<HostIndex>, std::vector<HostIndex>> shuffled_halves(
    std::span<const PlatformHost> hosts, std::uint64_t seed) {
  std::vector<std::vector<HostIndex>> nodes;
  std::unordered_map<std::string_view, std::size_t> index_of;
  for (HostIndex host = 0; host < hosts.size(); ++host) {
    const auto [node, fresh] = index_of.try_emplace(hosts[host].node, nodes.size());
    if (fresh) nodes.emplace_back();
    nodes[node->second].push_back(host);
  }
  for (std::size_t left = nodes.size(); left > 1; --left) {
    std::swap(nodes[left - 1], nodes[random_bits(seed, left) % left]);
  }
  std::pair<std::vector<HostIndex>, std::vector<HostIndex>> halves;
  for (const std::vector<HostIndex>& node : nodes) {
    const bool first = 2 * halves.first.size() < hosts.size();
    auto& half = first ? halves.first : halves.second;
    half.insert(half.end(), node.begin(), node.end());
  }
  return halves;
}

}  // namespace

Distances distances_of(const PlatformGraph& platform) {
  Distances result;
  summarise_routes(platform.survey, result);
  const Flat graph = flatten(platform.graph);
  const std::vector<Source> sources = sources_of(platform);
  for (const Source& source : sources) {
    compare_hops(platform, source, hops_from(graph, source.vertex), result);
  }
  result.latency_sources = std::min(sources.size(), kMostLatencySources);
  result.all_latency_sources = result.latency_sources == sources.size();
  for (std::size_t i = 0; i < result.latency_sources; ++i) {
    const Source& source = sources[i * sources.size() / result.latency_sources];
    compare_latencies(platform, source, latencies_from(graph, source.vertex), result);
  }
  return result;
}

std::optional<double> max_flow(const PlatformGraph& platform, const std::vector<HostIndex>& from,
                               const std::vector<HostIndex>& to) {
  if (from.empty() || to.empty()) return std::nullopt;
  const std::size_t vertices = boost::num_vertices(platform.graph);
  const Capacities capacities(platform.graph, from.size());
  FlowGraph flows(vertices + 2);
  for (const auto arc : boost::make_iterator_range(boost::edges(platform.graph))) {
    add_flow_arc(flows, boost::source(arc, platform.graph), boost::target(arc, platform.graph),
                 capacities.of(platform.graph[arc]));
  }
  const Vertex source = vertices;
  const Vertex sink = vertices + 1;
  for (const HostIndex host : from) {
    const Vertex vertex = platform.vertex_of[host];
    add_flow_arc(flows, source, vertex, capacities.out_of(vertex));
  }
  for (const HostIndex host : to) {
    const Vertex vertex = platform.vertex_of[host];
    add_flow_arc(flows, vertex, sink, capacities.into(vertex));
  }
  const Capacity flow = boost::push_relabel_max_flow(
      flows, source, sink, boost::get(&FlowArc::capacity, flows),
      boost::get(&FlowArc::residual, flows), boost::get(&FlowArc::reverse, flows),
      boost::get(boost::vertex_index, flows));
  if (flow >= capacities.unlimited()) return std::nullopt;
  return capacities.bandwidth(flow);
}

Bisection bisection_of(const PlatformGraph& platform, std::span<const PlatformHost> hosts,
                       std::size_t random_halves, std::uint64_t seed) {
  Bisection result;
  if (hosts.size() < 2) return result;
  std::vector<HostIndex> first;
  std::vector<HostIndex> second;
  for (HostIndex host = 0; host < hosts.size(); ++host) {
    (2 * std::size_t{host} < hosts.size() ? first : second).push_back(host);
  }
  result.in_order = max_flow(platform, first, second);
  result.random_halves = random_halves;
  for (std::size_t half = 0; half < random_halves; ++half) {
    const auto [a, b] = shuffled_halves(hosts, random_bits(seed, half));
    const std::optional<double> flow = max_flow(platform, a, b);
    if (flow && (!result.random_least || *flow < *result.random_least)) result.random_least = flow;
  }
  return result;
}

}  // namespace thinwire::topologies
