#include "topologies/loading/shortest_paths.hpp"

#include <fmt/format.h>

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

/// A link between two points, as the XML has it. Routes leave and enter zones by their gateways.
struct GivenRoute {
  const routing::NetPoint* from;
  const routing::NetPoint* to;
  const routing::NetPoint* from_gateway;
  const routing::NetPoint* to_gateway;
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

/// The shortest paths between points, as SimGrid finds them: of the fewest links, and among equals
/// the one by the lowest numbers of vertices.
class Paths {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Step {
    std::uint32_t edge;
    std::uint32_t to;
    std::uint32_t cost;  ///< links
  };

  [[nodiscard]] std::uint32_t vertices() const {
    return static_cast<std::uint32_t>(leaving_.size());
  }
  /// kNone where no edge names the point.
  [[nodiscard]] std::uint32_t find(const routing::NetPoint* point) const {
    const auto found = numbers_.find(point);
    return found == numbers_.end() ? kNone : found->second;
  }
  [[nodiscard]] const std::vector<Step>& leaving(std::uint32_t vertex) const {
    return leaving_[vertex];
  }
  /// Where an edge begins.
  [[nodiscard]] std::uint32_t begin(std::uint32_t edge) const { return begins_[edge]; }

  /// Edges are numbered from 0 on.
  void add(const routing::NetPoint* from, const routing::NetPoint* to, std::size_t links) {
    const std::uint32_t a = vertex_of(from);
    const std::uint32_t b = vertex_of(to);
    leaving_[a].push_back({.edge = static_cast<std::uint32_t>(begins_.size()),
                           .to = b,
                           .cost = static_cast<std::uint32_t>(links)});
    begins_.push_back(a);
  }

  /// By vertex: the edge by which the shortest path from `source` comes to it, or kNone. Dijkstra's
  /// algorithm.
  [[nodiscard]] std::vector<std::uint32_t> from(std::uint32_t source) {
    std::vector<std::uint32_t> came_by(leaving_.size(), kNone);
    cost_.assign(leaving_.size(), kNone);
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

 private:
  /// Numbered as SimGrid does, in the order in which routes name them.
  std::uint32_t vertex_of(const routing::NetPoint* point) {
    const auto [at, is_new] = numbers_.try_emplace(point, vertices());
    if (is_new) leaving_.emplace_back();
    return at->second;
  }

  std::unordered_map<const routing::NetPoint*, std::uint32_t> numbers_;
  std::vector<std::vector<Step>> leaving_;  ///< by vertex
  std::vector<std::uint32_t> begins_;       ///< by edge
  std::vector<std::uint32_t> cost_;         ///< by vertex, of the last source
};

/// The innermost zone that two points are in, or null.
const routing::NetZoneImpl* common_zone(const routing::NetPoint& one,
                                        const routing::NetPoint& other) {
  for (const auto* zone = one.get_englobing_zone(); zone != nullptr; zone = zone->get_parent()) {
    for (const auto* in = other.get_englobing_zone(); in != nullptr; in = in->get_parent()) {
      if (in == zone) return zone;
    }
  }
  return nullptr;
}

/// What a zone's routes know a point in it by: the point, or the zone within it that has the point.
const routing::NetPoint* point_in(const routing::NetZoneImpl& zone,
                                  const routing::NetPoint& point) {
  const routing::NetZoneImpl* in = point.get_englobing_zone();
  if (in == &zone) return &point;
  while (in->get_parent() != &zone) in = in->get_parent();
  return in->get_netpoint();
}

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
    came_by_.resize(paths_.vertices());
  }

 private:
  void add_edge(const routing::NetPoint* from, const routing::NetPoint* to,
                std::vector<const sg4::Link*> links) {
    paths_.add(from, to, links.size());
    links_.push_back(std::move(links));
  }

  const std::vector<std::uint32_t>& paths_from(std::uint32_t source) {
    std::vector<std::uint32_t>& came_by = came_by_[source];
    if (came_by.empty()) came_by = paths_.from(source);
    return came_by;
  }

  void get_local_route(const routing::NetPoint* src, const routing::NetPoint* dst,
                       routing::Route* into, double* latency) override {
    const auto take = [&](const sg4::Link* link) {
      into->link_list_.push_back(link->get_impl());
      if (latency != nullptr) *latency += link->get_latency();
    };
    const std::uint32_t from = paths_.find(src);
    const std::uint32_t to = paths_.find(dst);
    if (src == dst) {
      if (from != Paths::kNone) {
        for (const Paths::Step& step : paths_.leaving(from)) {
          if (step.to != from) continue;
          for (const sg4::Link* link : links_[step.edge]) take(link);
          return;
        }
      }
      if (loopback_ != nullptr) take(loopback_);
      return;
    }
    const bool known = from != Paths::kNone && to != Paths::kNone;
    if (!known || paths_from(from)[to] == Paths::kNone) {
      throw std::invalid_argument("No route from '" + src->get_name() + "' to '" + dst->get_name() +
                                  "'");
    }
    const std::vector<std::uint32_t>& came_by = paths_from(from);
    // Behind the links of the zones on the way here; SimGrid puts them in front of these.
    const auto before = static_cast<std::ptrdiff_t>(into->link_list_.size());
    // From the end, as SimGrid does: so the links of a single route of the XML are turned round.
    for (std::uint32_t vertex = to; vertex != from; vertex = paths_.begin(came_by[vertex])) {
      for (const sg4::Link* link : links_[came_by[vertex]]) take(link);
    }
    std::reverse(into->link_list_.begin() + before, into->link_list_.end());
  }

  const sg4::Link* loopback_;
  Paths paths_;
  std::vector<std::vector<const sg4::Link*>> links_;  ///< by edge
  std::vector<std::vector<std::uint32_t>> came_by_;   ///< by source, and vertex
};

/// Refuses a zone of zones in which a path goes through one of them and leaves it by another gateway
/// than it came by: SimGrid looks for the way between the two, and takes null for both.
void check_gateways(const routing::NetZoneImpl& zone, const std::vector<GivenRoute>& given) {
  struct Ends {
    const routing::NetPoint* from;
    const routing::NetPoint* to;
  };
  Paths paths;
  std::vector<Ends> gateways;  // by edge
  std::unordered_map<const routing::NetPoint*, const routing::NetPoint*> gateway_of;
  bool several = false;  // whether a zone has several gateways
  for (const GivenRoute& route : given) {
    for (const auto& [point, gateway] :
         {std::pair{route.from, route.from_gateway}, std::pair{route.to, route.to_gateway}}) {
      several = gateway_of.try_emplace(point, gateway).first->second != gateway || several;
    }
    paths.add(route.from, route.to, route.links.size());
    gateways.push_back({route.from_gateway, route.to_gateway});
    if (!route.symmetrical) continue;
    paths.add(route.to, route.from, route.links.size());
    gateways.push_back({route.to_gateway, route.from_gateway});
  }
  for (std::uint32_t source = 0; several && source < paths.vertices(); ++source) {
    const std::vector<std::uint32_t> came_by = paths.from(source);
    for (const std::uint32_t last : came_by) {
      if (last == Paths::kNone || paths.begin(last) == source) continue;
      const routing::NetPoint* const in = gateways[came_by[paths.begin(last)]].to;
      const routing::NetPoint* const out = gateways[last].from;
      if (in == out) continue;
      throw std::invalid_argument(fmt::format(
          "zone {}: a shortest path enters a zone by its gateway {} and leaves it by {}, which "
          "SimGrid's Dijkstra cannot follow; give the zone the routing Floyd, or the inner one a "
          "single gateway",
          zone.get_name(), in->get_name(), out->get_name()));
    }
  }
}

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
  routing::NetZoneImpl::on_route_creation.connect([heard = std::weak_ptr(heard_)](
                                                      bool symmetrical,
                                                      const routing::NetPoint* from,
                                                      const routing::NetPoint* to,
                                                      const routing::NetPoint* from_gateway,
                                                      const routing::NetPoint* to_gateway,
                                                      const std::vector<LinkImpl*>& links) {
    const std::shared_ptr<Heard> into = heard.lock();
    if (!into) return;
    if (from_gateway == nullptr || to_gateway == nullptr) {
      into->routes[from->get_englobing_zone()].push_back({from, to, from, to, links, symmetrical});
      return;
    }
    // SimGrid 3.32 tells only the gateways of a route between zones.
    const routing::NetZoneImpl* const zone = common_zone(*from_gateway, *to_gateway);
    if (zone == nullptr) return;
    into->routes[zone].push_back({point_in(*zone, *from_gateway), point_in(*zone, *to_gateway),
                                  from_gateway, to_gateway, links, symmetrical});
  });
}

ShortestPaths::~ShortestPaths() = default;

void ShortestPaths::quicken(const sg4::Engine& engine, bool bypasses) {
  const std::vector<routing::NetZoneImpl*> zones = zones_called("DijkstraZone");
  if (zones.empty()) return;
  const Links links(engine);
  for (routing::NetZoneImpl* zone : zones) {
    const std::vector<GivenRoute>& given = heard_->routes[zone];
    const bool has_zones = !zone->get_children().empty();
    if (has_zones && !bypasses) check_gateways(*zone, given);
    if (bypasses || has_zones) {
      keeps_paths(static_cast<routing::DijkstraZone&>(*zone)) = true;
      continue;
    }
    auto* paths = new Zone(zone->get_name() + "_shortest_paths", given, links);
    take_over(paths, *zone, zone->get_vertices());
  }
}

}  // namespace thinwire::topologies
