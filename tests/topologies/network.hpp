// Small networks whose ends are known, as route tables: what graphs and metrics are held against.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "topologies/analysis/graph.hpp"
#include "topologies/loading/route_table.hpp"

namespace thinwire::test {

/// Points 0 .. hosts-1 are hosts, the others junctions. Routes have the fewest hops and lead
/// through no other host.
class Network {
 public:
  struct Cable {
    std::size_t a;
    std::size_t b;
    bool duplex = true;  ///< two links, NAME_UP from a to b and NAME_DOWN back
    double bandwidth = 1e9;
    double latency_s = 1e-6;
  };

  Network(std::size_t hosts, std::size_t junctions, const std::vector<Cable>& cables)
      : points_(hosts + junctions), arcs_(hosts + junctions) {
    for (std::size_t i = 0; i < hosts; ++i) {
      hosts_.push_back({"h" + std::to_string(i), "h" + std::to_string(i)});
    }
    for (const Cable& cable : cables) {
      const std::string name = "c" + std::to_string(cables_++);
      const auto add = [&](const std::string& link, std::size_t from, std::size_t to) {
        arcs_[from].emplace_back(static_cast<topologies::LinkIndex>(ends_.size()), to);
        if (!cable.duplex)
          arcs_[to].emplace_back(static_cast<topologies::LinkIndex>(ends_.size()), from);
        links_.push_back({link, cable.bandwidth, Seconds(cable.latency_s), false});
        ends_.emplace_back(from, to);
      };
      add(cable.duplex ? name + "_UP" : name, cable.a, cable.b);
      if (cable.duplex) add(name + "_DOWN", cable.b, cable.a);
    }
  }

  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  [[nodiscard]] const std::vector<topologies::PlatformLink>& links() const { return links_; }
  [[nodiscard]] std::vector<topologies::PlatformLink>& links() { return links_; }
  /// The points at the two ends of a link; from and to where it is one direction of a cable.
  [[nodiscard]] std::pair<std::size_t, std::size_t> ends(topologies::LinkIndex link) const {
    return ends_[link];
  }

  /// Must not outlive the network.
  [[nodiscard]] topologies::RouteTable table() const {
    return {hosts_, links_, [this](topologies::HostIndex from, topologies::HostIndex to) {
              return route(from, to);
            }};
  }

  [[nodiscard]] std::optional<topologies::Route> route(std::size_t from, std::size_t to) const {
    std::vector<std::optional<std::pair<topologies::LinkIndex, std::size_t>>> by(points_);
    std::vector<std::size_t> queue{from};
    for (std::size_t next = 0; next < queue.size() && !by[to]; ++next) {
      const std::size_t point = queue[next];
      if (point != from && point < hosts_.size()) continue;
      for (const auto& [link, end] : arcs_[point]) {
        if (end == from || by[end]) continue;
        by[end] = std::pair(link, point);
        queue.push_back(end);
      }
    }
    topologies::Route route;
    if (from == to) return route;
    if (!by[to]) return std::nullopt;
    double latency = 0;
    for (std::size_t point = to; point != from; point = by[point]->second) {
      route.links.insert(route.links.begin(), by[point]->first);
      latency += links_[by[point]->first].latency.value();
    }
    route.latency = Seconds(latency);
    return route;
  }

 private:
  std::size_t points_;
  std::size_t cables_ = 0;
  std::vector<topologies::PlatformHost> hosts_;
  std::vector<topologies::PlatformLink> links_;
  std::vector<std::pair<std::size_t, std::size_t>> ends_;                         ///< by link
  std::vector<std::vector<std::pair<topologies::LinkIndex, std::size_t>>> arcs_;  ///< by point
};

/// Junctions in a random tree with some cables more, hosts hung on them at random.
inline Network random_network(std::uint64_t seed, std::size_t hosts, std::size_t junctions,
                              std::size_t more_cables, bool all_duplex) {
  std::uint64_t counter = 0;
  const auto draw = [&](std::size_t below) { return random_bits(seed, counter++) % below; };
  std::vector<Network::Cable> cables;
  const auto add = [&](std::size_t a, std::size_t b) {
    cables.push_back({a, b, all_duplex || draw(2) == 0, 1e9 * static_cast<double>(1 + draw(9)),
                      1e-6 * static_cast<double>(1 + draw(5))});
  };
  for (std::size_t host = 0; host < hosts; ++host) add(host, hosts + draw(junctions));
  for (std::size_t i = 1; i < junctions; ++i) add(hosts + i, hosts + draw(i));
  for (std::size_t i = 0; i < more_cables; ++i) {
    const std::size_t a = hosts + draw(junctions);
    const std::size_t b = hosts + draw(junctions);
    if (a != b) add(a, b);
  }
  return {hosts, junctions, cables};
}

/// Least sums of weights between all vertices (Floyd and Warshall); infinite where there is no way.
template <class Weight>
std::vector<std::vector<double>> all_distances(const topologies::Graph& graph, Weight weight) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const std::size_t n = boost::num_vertices(graph);
  std::vector<std::vector<double>> d(n, std::vector<double>(n, kFar));
  for (std::size_t i = 0; i < n; ++i) d[i][i] = 0;
  for (const auto arc : boost::make_iterator_range(boost::edges(graph))) {
    double& least = d[boost::source(arc, graph)][boost::target(arc, graph)];
    least = std::min(least, weight(graph[arc]));
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
    }
  }
  return d;
}

}  // namespace thinwire::test
