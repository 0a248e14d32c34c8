#include "topologies/loading/shortest_paths.hpp"

#include <simgrid/kernel/routing/DijkstraZone.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topologies/loading/own_zone.hpp"

namespace thinwire::topologies {

namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using LinkImpl = simgrid::kernel::resource::StandardLinkImpl;

constexpr std::uint32_t kNoPath = std::numeric_limits<std::uint32_t>::max();

/// Between two points, as the XML has it.
struct GivenRoute {
  const routing::NetPoint* from;
  const routing::NetPoint* to;
  std::vector<LinkImpl*> links;
  bool symmetrical;
};

/// The links of a platform, by SimGrid's own objects, which its headers only declare.
class Links {
 public:
  explicit Links(const sg4::Engine& engine) : root_(*engine.get_netzone_root()->get_impl()) {
    for (const sg4::Link* link : engine.get_all_links()) links_[link->get_impl()] = link;
  }

  [[nodiscard]] const sg4::Link* operator[](const LinkImpl* link) const { return links_.at(link); }

  /// The other direction of a full-duplex cable; any other link is its own.
  [[nodiscard]] const sg4::Link* back_of(const sg4::Link* link) const {
    const std::string& name = link->get_name();
    for (const auto& [end, other] : {std::pair{"_UP", "_DOWN"}, std::pair{"_DOWN", "_UP"}}) {
      if (!name.ends_with(end)) continue;
      const std::string stem = name.substr(0, name.size() - std::string_view(end).size());
      if (root_.get_split_duplex_link_by_name_or_null(stem) == nullptr) continue;
      return sg4::Link::by_name(stem + other);
    }
    return link;
  }

 private:
  const routing::NetZoneImpl& root_;
  std::unordered_map<const LinkImpl*, const sg4::Link*> links_;
};

class Zone final : public routing::NetZoneImpl {
 public:
  Zone(const std::string& name, const std::vector<GivenRoute>& given, const Links& links)
      : NetZoneImpl(name), loopback_(sg4::Link::by_name_or_null("__loopback__")) {
    for (const GivenRoute& route : given) {
      std::vector<const sg4::Link*> there;
      for (const LinkImpl* link : route.links) there.push_back(links[link]);
      add_edge(route.from, route.to, there);
      if (!route.symmetrical) continue;
      std::vector<const sg4::Link*> back;
      for (const sg4::Link* link : there) back.push_back(links.back_of(link));
      std::ranges::reverse(back);
      add_edge(route.to, route.from, std::move(back));
    }
    came_by_.resize(leaving_.size());
  }

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    std::vector<const sg4::Link*> links;
  };
  struct Step {
    std::uint32_t edge;
    std::uint32_t to;
    std::uint32_t cost;  ///< links
  };

  /// Numbered as SimGrid does, in the order in which routes name them: among ways with as few links
  /// it takes the one by the lowest number.
  std::uint32_t vertex_of(const routing::NetPoint* point) {
    const auto next = static_cast<std::uint32_t>(leaving_.size());
    const auto [at, is_new] = vertices_.try_emplace(point, next);
    if (is_new) leaving_.emplace_back();
    return at->second;
  }

  void add_edge(const routing::NetPoint* from, const routing::NetPoint* to,
                std::vector<const sg4::Link*> links) {
    const std::uint32_t a = vertex_of(from);
    const std::uint32_t b = vertex_of(to);
    leaving_[a].push_back({.edge = static_cast<std::uint32_t>(edges_.size()),
                           .to = b,
                           .cost = static_cast<std::uint32_t>(links.size())});
    edges_.push_back({.from = a, .to = b, .links = std::move(links)});
  }

  /// By vertex: the edge by which the shortest path from `source` comes to it. Dijkstra's
  /// algorithm.
  const std::vector<std::uint32_t>& paths_from(std::uint32_t source) {
    std::vector<std::uint32_t>& came_by = came_by_[source];
    if (!came_by.empty()) return came_by;
    came_by.assign(leaving_.size(), kNoPath);
    cost_.assign(leaving_.size(), kNoPath);
    cost_[source] = 0;
    using Reached = std::pair<std::uint32_t, std::uint32_t>;  // cost, vertex
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    open.emplace(0, source);
    while (!open.empty()) {
      const auto [cost, vertex] = open.top();
      open.pop();
      if (cost > cost_[vertex]) continue;
      for (const Step& step : leaving_[vertex]) {
        if (cost + step.cost >= cost_[step.to]) continue;
        cost_[step.to] = cost + step.cost;
        came_by[step.to] = step.edge;
        open.emplace(cost_[step.to], step.to);
      }
    }
    return came_by;
  }

  void get_local_route(const routing::NetPoint* src, const routing::NetPoint* dst,
                       routing::Route* into, double* latency) override {
    const auto take = [&](const sg4::Link* link) {
      into->link_list_.push_back(link->get_impl());
      if (latency != nullptr) *latency += link->get_latency();
    };
    const auto from = vertices_.find(src);
    const auto to = vertices_.find(dst);
    if (src == dst) {
      if (from != vertices_.end()) {
        for (const Step& step : leaving_[from->second]) {
          if (step.to != from->second) continue;
          for (const sg4::Link* link : edges_[step.edge].links) take(link);
          return;
        }
      }
      if (loopback_ != nullptr) take(loopback_);
      return;
    }
    const bool known = from != vertices_.end() && to != vertices_.end();
    if (!known || paths_from(from->second)[to->second] == kNoPath) {
      throw std::invalid_argument("No route from '" + src->get_name() + "' to '" + dst->get_name() +
                                  "'");
    }
    const std::vector<std::uint32_t>& came_by = paths_from(from->second);
    // Behind the links of the zones on the way here; SimGrid puts them in front of these.
    const auto before = static_cast<std::ptrdiff_t>(into->link_list_.size());
    // From the end, as SimGrid does: so the links of a single route of the XML are turned round.
    for (std::uint32_t vertex = to->second; vertex != from->second;) {
      const Edge& edge = edges_[came_by[vertex]];
      for (const sg4::Link* link : edge.links) take(link);
      vertex = edge.from;
    }
    std::reverse(into->link_list_.begin() + before, into->link_list_.end());
  }

  const sg4::Link* loopback_;
  std::unordered_map<const routing::NetPoint*, std::uint32_t> vertices_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Step>> leaving_;           ///< by vertex
  std::vector<std::vector<std::uint32_t>> came_by_;  ///< by source, and vertex
  std::vector<std::uint32_t> cost_;                  ///< by vertex, of the last source
};

/// Whether a Dijkstra zone of SimGrid keeps the paths from a source. The member is private, and a zone
/// that the XML does not call DijkstraCache computes them again for every pair. An explicit
/// instantiation may name private members.
bool& keeps_paths(routing::DijkstraZone& zone);
template <bool routing::DijkstraZone::*kMember>
struct Opened {
  friend bool& keeps_paths(routing::DijkstraZone& zone) { return zone.*kMember; }
};
template struct Opened<&routing::DijkstraZone::cached_>;

}  // namespace

struct ShortestPaths::Heard {
  std::unordered_map<const routing::NetZoneImpl*, std::vector<GivenRoute>> routes;  ///< by zone
};

ShortestPaths::ShortestPaths() : heard_(std::make_shared<Heard>()) {
  routing::NetZoneImpl::on_route_creation.connect(
      [heard = std::weak_ptr(heard_)](bool symmetrical, const routing::NetPoint* from,
                                      const routing::NetPoint* to, const routing::NetPoint* gateway,
                                      const routing::NetPoint*,
                                      const std::vector<LinkImpl*>& links) {
        const std::shared_ptr<Heard> into = heard.lock();
        if (!into || gateway != nullptr) return;  // with gateways, it is between two zones
        into->routes[from->get_englobing_zone()].push_back({from, to, links, symmetrical});
      });
}

ShortestPaths::~ShortestPaths() = default;

void ShortestPaths::quicken(const sg4::Engine& engine, bool bypasses) {
  const std::vector<routing::NetZoneImpl*> zones = zones_called("DijkstraZone");
  if (zones.empty()) return;
  const Links links(engine);
  for (routing::NetZoneImpl* zone : zones) {
    if (bypasses || !zone->get_children().empty()) {
      keeps_paths(static_cast<routing::DijkstraZone&>(*zone)) = true;
      continue;
    }
    auto* paths = new Zone(zone->get_name() + "_shortest_paths", heard_->routes[zone], links);
    take_over(paths, *zone, zone->get_vertices());
  }
}

}  // namespace thinwire::topologies
