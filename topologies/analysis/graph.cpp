#include "topologies/analysis/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace thinwire::topologies {

namespace {

/// A point where links end; points are merged when routes show that they coincide.
using Point = std::size_t;

/// The sets of points that coincide according to routes. The smallest point names its set, so a
/// host remains the name of its point.
class Points {
 public:
  explicit Points(std::size_t count) : smallest_(count), sets_(count) {
    std::iota(smallest_.begin(), smallest_.end(), Point{0});
  }
  Point find(Point point) { return smallest_[sets_.find_set(point)]; }
  void merge(Point a, Point b) {
    const Point smallest = std::min(find(a), find(b));
    sets_.union_set(a, b);
    smallest_[sets_.find_set(a)] = smallest;
  }
  bool same(Point a, Point b) { return sets_.find_set(a) == sets_.find_set(b); }

 private:
  std::vector<Point> smallest_;  ///< by representative of the set
  boost::disjoint_sets_with_storage<> sets_;
};

/// Replaces Boost's add_vertex with a property, for which GCC 12 warns under sanitizers.
Vertex add_vertex(Graph& graph, GraphVertex properties) {
  const Vertex vertex = boost::add_vertex(graph);
  graph[vertex] = std::move(properties);
  return vertex;
}

/// The direction in which a route crosses a link.
enum class Direction : std::uint8_t { unknown, along, against };

class GraphBuilder {
 public:
  explicit GraphBuilder(const RouteTable& table)
      : table_(table),
        points_(table.hosts.size() + 2 * table.links.size()),
        links_(table.links.size()),
        first_link_(table.hosts.size()) {
    find_cables();
  }

  void add(HostIndex from, HostIndex to, const Route& route) {
    if (route.links.empty()) return;
    first_link_[from] = route.links.front();
    if (!try_add(from, to, route.links)) postponed_.push_back({from, to, route.links});
  }

  /// The class of a host: the point at the far end of its first link.
  std::size_t class_of(HostIndex host) {
    if (!first_link_[host]) return points_.find(host);
    const LinkIndex link = *first_link_[host];
    return points_.find(points_.same(tail(link), host) ? head(link) : tail(link));
  }

  PlatformGraph finish(Survey survey) {
    settle_postponed();
    join_cables();
    PlatformGraph result;
    result.guesses = guesses_;
    build(result);
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      result.link_names.push_back(table_.links[link].name);
      if (!survey.used[link] && !survey.loopback[link] && !table_.links[link].is_weight()) {
        result.never_used.push_back(link);
      }
    }
    result.survey = std::move(survey);
    return result;
  }

 private:
  struct LinkState {
    std::optional<LinkIndex> other_way;  ///< the opposite direction of the same cable
    bool seen = false;
    bool along = false;    ///< some route goes from its tail to its head
    bool against = false;  ///< some route goes from its head to its tail
    /// Cables adjacent to it on routes, at its tail and at its head; a sample suffices.
    std::set<LinkIndex> at_tail;
    std::set<LinkIndex> at_head;
  };
  struct Postponed {
    HostIndex from;
    HostIndex to;
    std::vector<LinkIndex> links;
  };

  [[nodiscard]] Point tail(LinkIndex link) const { return table_.hosts.size() + 2 * Point{link}; }
  [[nodiscard]] Point head(LinkIndex link) const { return tail(link) + 1; }
  [[nodiscard]] bool one_way(LinkIndex link) const { return links_[link].other_way.has_value(); }

  void find_cables() {
    std::unordered_map<std::string_view, LinkIndex> by_name;
    for (LinkIndex link = 0; link < links_.size(); ++link) by_name[table_.links[link].name] = link;
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      const std::string& name = table_.links[link].name;
      if (!name.ends_with("_UP")) continue;
      const auto down = by_name.find(name.substr(0, name.size() - 2) + "DOWN");
      if (down == by_name.end()) continue;
      links_[link].other_way = down->second;
      links_[down->second].other_way = link;
    }
  }

  Point entry(LinkIndex link, Direction direction) const {
    return direction == Direction::along ? tail(link) : head(link);
  }
  Point exit(LinkIndex link, Direction direction) const {
    return direction == Direction::along ? head(link) : tail(link);
  }

  /// The direction in which a route takes a link that it enters, or leaves, at the point `at`.
  Direction direction_by(LinkIndex link, Point at, bool entering) {
    if (points_.same(entering ? tail(link) : head(link), at)) return Direction::along;
    if (points_.same(entering ? head(link) : tail(link), at)) return Direction::against;
    return Direction::unknown;
  }

  /// Learns from a route; false if the direction of some link is not yet known.
  bool try_add(HostIndex from, HostIndex to, const std::vector<LinkIndex>& links) {
    directions_.assign(links.size(), Direction::unknown);
    for (std::size_t i = 0; i < links.size(); ++i) {
      LinkState& state = links_[links[i]];
      if (one_way(links[i]) || !state.seen) directions_[i] = Direction::along;
      state.seen = true;
    }
    bool learned = true;
    while (learned && std::ranges::find(directions_, Direction::unknown) != directions_.end()) {
      learned = false;
      for (std::size_t i = 0; i < links.size(); ++i) {
        if (directions_[i] != Direction::unknown) continue;
        if (i == 0 || directions_[i - 1] != Direction::unknown) {
          directions_[i] =
              direction_by(links[i], i == 0 ? from : exit(links[i - 1], directions_[i - 1]), true);
        }
        const bool last = i + 1 == links.size();
        if (directions_[i] == Direction::unknown &&
            (last || directions_[i + 1] != Direction::unknown)) {
          directions_[i] =
              direction_by(links[i], last ? to : entry(links[i + 1], directions_[i + 1]), false);
        }
        learned = learned || directions_[i] != Direction::unknown;
      }
    }
    // Facts about two neighbours hold even if the rest of the route must wait.
    for (std::size_t i = 0; i <= links.size(); ++i) {
      if (i > 0 && directions_[i - 1] == Direction::unknown) continue;
      if (i < links.size() && directions_[i] == Direction::unknown) continue;
      points_.merge(i == 0 ? from : exit(links[i - 1], directions_[i - 1]),
                    i == links.size() ? to : entry(links[i], directions_[i]));
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      links_[links[i]].along = links_[links[i]].along || directions_[i] == Direction::along;
      links_[links[i]].against = links_[links[i]].against || directions_[i] == Direction::against;
      if (directions_[i] != Direction::unknown) remember_neighbours(links, i, directions_[i]);
    }
    return std::ranges::find(directions_, Direction::unknown) == directions_.end();
  }

  /// A common name for both directions of a cable.
  [[nodiscard]] LinkIndex cable_of(LinkIndex link) const {
    return std::min(link, links_[link].other_way.value_or(link));
  }

  void remember_neighbours(const std::vector<LinkIndex>& links, std::size_t i,
                           Direction direction) {
    constexpr std::size_t kEnough = 64;
    LinkState& state = links_[links[i]];
    if (one_way(links[i])) return;
    std::set<LinkIndex>& before = direction == Direction::along ? state.at_tail : state.at_head;
    std::set<LinkIndex>& after = direction == Direction::along ? state.at_head : state.at_tail;
    if (i > 0 && before.size() < kEnough) before.insert(cable_of(links[i - 1]));
    if (i + 1 < links.size() && after.size() < kEnough) after.insert(cable_of(links[i + 1]));
  }

  /// The direction in which its neighbours on this route are at the ends known from before.
  [[nodiscard]] Direction direction_by_neighbours(const std::vector<LinkIndex>& links,
                                                  std::size_t i) const {
    const LinkState& state = links_[links[i]];
    int along = 0;
    if (i > 0) {
      along += state.at_tail.contains(cable_of(links[i - 1])) ? 1 : 0;
      along -= state.at_head.contains(cable_of(links[i - 1])) ? 1 : 0;
    }
    if (i + 1 < links.size()) {
      along += state.at_head.contains(cable_of(links[i + 1])) ? 1 : 0;
      along -= state.at_tail.contains(cable_of(links[i + 1])) ? 1 : 0;
    }
    return along > 0 ? Direction::along : along < 0 ? Direction::against : Direction::unknown;
  }

  void settle_postponed() {
    while (!postponed_.empty()) {
      const std::size_t before = postponed_.size();
      std::erase_if(postponed_, [&](const Postponed& waiting) {
        return try_add(waiting.from, waiting.to, waiting.links);
      });
      if (postponed_.size() < before) continue;
      if (!settle_one(true)) settle_one(false);
    }
  }

  /// Decides the first ambiguous link of one postponed route, from its neighbours or by guessing.
  bool settle_one(bool by_neighbours) {
    for (const Postponed& waiting : postponed_) {
      try_add(waiting.from, waiting.to, waiting.links);
      const auto doubtful = static_cast<std::size_t>(
          std::ranges::find(directions_, Direction::unknown) - directions_.begin());
      Direction direction = direction_by_neighbours(waiting.links, doubtful);
      if (direction == Direction::unknown && by_neighbours) continue;
      if (direction == Direction::unknown) {
        direction = Direction::along;
        ++guesses_;
      }
      points_.merge(doubtful == 0 ? waiting.from
                                  : exit(waiting.links[doubtful - 1], directions_[doubtful - 1]),
                    entry(waiting.links[doubtful], direction));
      return true;
    }
    return false;
  }

  /// Joins the ends of a cable's two directions unless that would merge the two ends of some link:
  /// then the apparent single switch is the entry and the exit of a backbone.
  void join_cables() {
    std::vector<std::vector<LinkIndex>> at(table_.hosts.size() + 2 * links_.size());
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      if (!links_[link].seen) continue;
      at[points_.find(tail(link))].push_back(link);
      at[points_.find(head(link))].push_back(link);
    }
    const auto join = [&](Point a, Point b) {
      a = points_.find(a);
      b = points_.find(b);
      if (a == b) return;
      if (at[a].size() < at[b].size()) std::swap(a, b);
      for (const LinkIndex link : at[b]) {
        const Point ends = points_.find(tail(link)) ^ points_.find(head(link));
        if (ends == (a ^ b)) return;
      }
      points_.merge(a, b);
      const Point merged = points_.find(a);
      std::vector<LinkIndex> all = std::move(at[a]);
      all.insert(all.end(), at[b].begin(), at[b].end());
      at[b].clear();
      at[merged] = std::move(all);
    };
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      const std::optional<LinkIndex> other = links_[link].other_way;
      if (!other || !links_[link].seen) continue;
      join(tail(link), head(*other));
      join(head(link), tail(*other));
      if (!links_[*other].seen) links_[*other].along = true;
    }
  }

  void build(PlatformGraph& result) {
    // The entry and the exit of each point; they differ if a link connects them.
    std::unordered_map<Point, std::pair<Vertex, Vertex>> vertices;
    Graph& graph = result.graph;
    for (HostIndex host = 0; host < table_.hosts.size(); ++host) {
      const Point point = points_.find(host);
      if (!vertices.contains(point)) {
        const Vertex vertex =
            add_vertex(graph, {table_.hosts[host].name, VertexKind::host, table_.hosts[host].node});
        vertices[point] = {vertex, vertex};
      }
      result.vertex_of.push_back(vertices[point].first);
    }
    const auto present = [&](LinkIndex link) { return links_[link].along || links_[link].against; };
    std::unordered_map<Point, bool> inner;
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      if (present(link) && points_.same(tail(link), head(link)))
        inner[points_.find(tail(link))] = true;
    }
    std::size_t switches = 0;
    const auto vertex_at = [&](Point point) {
      point = points_.find(point);
      const auto found = vertices.find(point);
      if (found != vertices.end()) return found->second;
      const std::string name = fmt::format("switch{}", switches++);
      std::pair<Vertex, Vertex> made;
      if (inner.contains(point)) {
        made = {add_vertex(graph, {name + ":in", VertexKind::junction, {}}),
                add_vertex(graph, {name + ":out", VertexKind::junction, {}})};
      } else {
        made.first = made.second = add_vertex(graph, {name, VertexKind::junction, {}});
      }
      return vertices.emplace(point, made).first->second;
    };
    // Switches are numbered in the order of the hosts on them.
    for (const std::optional<LinkIndex>& link : first_link_) {
      if (!link) continue;
      vertex_at(tail(*link));
      vertex_at(head(*link));
    }
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      if (!present(link)) continue;
      const PlatformLink& figures = table_.links[link];
      const GraphArc arc{link, figures.bandwidth, figures.latency.value(), figures.fat_pipe};
      const auto ends = std::pair(vertex_at(tail(link)), vertex_at(head(link)));
      if (points_.same(tail(link), head(link))) {
        boost::add_edge(ends.first.first, ends.first.second, arc, graph);
        continue;
      }
      if (links_[link].along) boost::add_edge(ends.first.second, ends.second.first, arc, graph);
      if (links_[link].against) boost::add_edge(ends.second.second, ends.first.first, arc, graph);
    }
  }

  const RouteTable& table_;
  Points points_;
  std::vector<LinkState> links_;
  std::vector<std::optional<LinkIndex>> first_link_;  ///< by host
  std::vector<Postponed> postponed_;
  std::vector<Direction> directions_;
  std::size_t guesses_ = 0;
};

}  // namespace

std::size_t PlatformGraph::junctions() const {
  std::size_t count = 0;
  for (const Vertex vertex : boost::make_iterator_range(boost::vertices(graph))) {
    count += graph[vertex].kind == VertexKind::junction ? 1 : 0;
  }
  return count;
}

PlatformGraph graph_of(const RouteTable& table, const SurveyLimits& limits) {
  GraphBuilder builder(table);
  Survey survey =
      survey_routes(table, limits,
                    {.route = [&](HostIndex from, HostIndex to,
                                  const Route& route) { builder.add(from, to, route); },
                     .class_of = [&](HostIndex host) { return builder.class_of(host); }});
  return builder.finish(std::move(survey));
}

}  // namespace thinwire::topologies
