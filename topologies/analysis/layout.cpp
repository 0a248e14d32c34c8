#include "topologies/analysis/layout.hpp"

#include <algorithm>
#include <boost/graph/connected_components.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <set>

namespace thinwire::topologies {

namespace {

constexpr int kUnknown = -2;
constexpr int kInNode = -1;  // a switch that connects the hosts of one node
constexpr double kMargin = 0.04;

struct Ring {
  Position centre;
  double radius = 0;

  /// The position at the fraction `share` of the ring, clockwise from the top.
  [[nodiscard]] Position at(double share, double radius_factor = 1) const {
    const double angle = 2 * std::numbers::pi * share;
    return {centre.x + radius_factor * radius * std::sin(angle),
            centre.y - radius_factor * radius * std::cos(angle)};
  }
};

double part(std::size_t i, std::size_t of) {
  return static_cast<double>(i) / static_cast<double>(of);
}

class Layout {
 public:
  explicit Layout(const PlatformGraph& platform)
      : graph_(platform.graph),
        positions_(boost::num_vertices(graph_), Position{0.5, 0.5}),
        neighbours_(positions_.size()),
        level_(positions_.size(), kUnknown) {
    for (const auto arc : boost::make_iterator_range(boost::edges(graph_))) {
      const Vertex from = boost::source(arc, graph_);
      const Vertex to = boost::target(arc, graph_);
      neighbours_[from].insert(to);
      neighbours_[to].insert(from);
    }
    find_levels();
  }

  [[nodiscard]] std::vector<Position> positions() {
    const std::vector<Vertex> switches = junctions();
    if (switches.size() <= 1) {
      ring();
    } else if (beside_one_another()) {
      groups(switches);
    } else {
      rows();
    }
    return positions_;
  }

 private:
  [[nodiscard]] bool is_host(Vertex vertex) const {
    return graph_[vertex].kind == VertexKind::host;
  }

  [[nodiscard]] std::vector<Vertex> hosts() const {
    std::vector<Vertex> found;
    for (Vertex vertex = 0; vertex < positions_.size(); ++vertex) {
      if (is_host(vertex)) found.push_back(vertex);
    }
    return found;
  }

  [[nodiscard]] std::vector<Vertex> junctions() const {
    std::vector<Vertex> found;
    for (Vertex vertex = 0; vertex < positions_.size(); ++vertex) {
      if (!is_host(vertex)) found.push_back(vertex);
    }
    return found;
  }

  /// The level of a vertex is its distance to the nearest host; 0 for hosts.
  void find_levels() {
    std::deque<Vertex> next;
    for (const Vertex host : hosts()) {
      level_[host] = 0;
      next.push_back(host);
    }
    while (!next.empty()) {
      const Vertex vertex = next.front();
      next.pop_front();
      for (const Vertex other : neighbours_[vertex]) {
        if (level_[other] != kUnknown) continue;
        level_[other] = level_[vertex] + 1;
        next.push_back(other);
      }
    }
    const std::vector<Vertex> switches = junctions();
    for (const Vertex vertex : switches) {
      std::set<std::string> nodes;
      const bool alone = std::ranges::all_of(neighbours_[vertex], [&](Vertex other) {
        nodes.insert(graph_[other].node);
        return is_host(other);
      });
      if (switches.size() > 1 && alone && nodes.size() == 1) level_[vertex] = kInNode;
    }
  }

  [[nodiscard]] bool beside_one_another() const {
    const auto [begin, end] = boost::edges(graph_);
    return std::any_of(begin, end, [&](const auto& arc) {
      const Vertex from = boost::source(arc, graph_);
      const Vertex to = boost::target(arc, graph_);
      return !is_host(from) && !is_host(to) && level_[from] == level_[to];
    });
  }

  void ring() {
    const Ring all{.centre = {0.5, 0.5}, .radius = 0.5 - kMargin};
    const std::vector<Vertex> around = hosts();
    for (std::size_t i = 0; i < around.size(); ++i) {
      positions_[around[i]] = all.at(part(i, around.size()));
    }
  }

  void spread(std::vector<Vertex>& row, double y) {
    std::ranges::stable_sort(row, {}, [&](Vertex vertex) { return positions_[vertex].x; });
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
      positions_[row[i]] = {x, y};
    }
  }

  void rows() {
    std::map<int, std::vector<Vertex>> row_of;
    for (Vertex vertex = 0; vertex < positions_.size(); ++vertex) {
      row_of[level_[vertex]].push_back(vertex);
    }
    const int lowest = row_of.begin()->first;
    const int highest = row_of.rbegin()->first;
    const auto y_of = [&](int level) {
      return kMargin + (1 - 2 * kMargin) * (highest - level) / std::max(1, highest - lowest);
    };
    // Hosts are placed first, then each level above the mean position of its lower neighbours.
    std::vector<int> order{0};
    for (const auto& [level, row] : row_of) {
      if (level != 0) order.push_back(level);
    }
    for (const int level : order) {
      std::vector<Vertex>& row = row_of[level];
      for (const Vertex vertex : row) {
        if (level != 0) positions_[vertex].x = middle_below(vertex);
      }
      spread(row, y_of(level));
    }
  }

  [[nodiscard]] double middle_below(Vertex vertex) const {
    double sum = 0;
    int count = 0;
    for (const Vertex other : neighbours_[vertex]) {
      if (std::abs(level_[other]) >= std::abs(level_[vertex])) continue;
      sum += positions_[other].x;
      ++count;
    }
    return count == 0 ? 0.5 : sum / count;
  }

  void groups(const std::vector<Vertex>& switches) {
    const std::vector<std::vector<Vertex>> all = groups_of(switches);
    const bool one = all.size() == 1;
    // Rings on a ring do not touch if their radius is at most the large ring's times the sine.
    const double sine = one ? 1 : std::sin(std::numbers::pi / static_cast<double>(all.size()));
    const double large = one ? 0 : (0.5 - kMargin) / (1 + 0.95 * sine);
    const Ring outer{.centre = {0.5, 0.5}, .radius = large};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Ring own{.centre = outer.at(part(i, all.size())),
                     .radius = one ? 0.5 - kMargin : 0.95 * sine * large};
      for (std::size_t s = 0; s < all[i].size(); ++s) {
        const Vertex vertex = all[i][s];
        positions_[vertex] = own.at(part(s, all[i].size()), 0.78);
        std::vector<Vertex> hanging;
        for (const Vertex other : neighbours_[vertex]) {
          if (is_host(other)) hanging.push_back(other);
        }
        for (std::size_t h = 0; h < hanging.size(); ++h) {
          const double aside =
              (static_cast<double>(h) + 0.5) / static_cast<double>(hanging.size()) - 0.5;
          positions_[hanging[h]] =
              own.at((static_cast<double>(s) + 0.8 * aside) / static_cast<double>(all[i].size()));
        }
      }
    }
  }

  /// The components without the slowest links between switches; a single one if none remain.
  [[nodiscard]] std::vector<std::vector<Vertex>> groups_of(
      const std::vector<Vertex>& switches) const {
    double slowest = 0;
    const auto between_switches = [&](const auto& arc) {
      return !is_host(boost::source(arc, graph_)) && !is_host(boost::target(arc, graph_));
    };
    for (const auto arc : boost::make_iterator_range(boost::edges(graph_))) {
      if (between_switches(arc)) slowest = std::max(slowest, graph_[arc].latency_s);
    }
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> near(positions_.size());
    for (const auto arc : boost::make_iterator_range(boost::edges(graph_))) {
      if (!between_switches(arc) || graph_[arc].latency_s >= slowest) continue;
      boost::add_edge(boost::source(arc, graph_), boost::target(arc, graph_), near);
    }
    std::vector<int> component(positions_.size());
    boost::connected_components(near, component.data());
    std::map<int, std::vector<Vertex>> members;
    for (const Vertex vertex : switches) members[component[vertex]].push_back(vertex);
    if (members.size() == switches.size()) return {switches};
    std::vector<std::vector<Vertex>> groups;
    for (const auto& [number, group] : members) groups.push_back(group);
    return groups;
  }

  const Graph& graph_;
  std::vector<Position> positions_;
  std::vector<std::set<Vertex>> neighbours_;
  std::vector<int> level_;
};

}  // namespace

std::vector<Position> layout_of(const PlatformGraph& platform) {
  return Layout(platform).positions();
}

}  // namespace thinwire::topologies
