#include "topologies/loading/dragonfly_routes.hpp"

#include <simgrid/kernel/routing/DragonflyZone.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "topologies/loading/own_zone.hpp"

namespace thinwire::topologies {

namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

struct Shape {
  std::size_t groups = 0;
  std::size_t chassis = 0;
  std::size_t routers = 0;
  std::size_t nodes = 0;

  [[nodiscard]] std::size_t hosts() const { return groups * chassis * routers * nodes; }
};

/// Cables by the kinds of SimGrid's names, each kind in the order in which SimGrid makes them.
struct Cables {
  std::vector<Cable> local;
  std::vector<Cable> green;
  std::vector<Cable> black;
  std::vector<Cable> blue;
};

class Dragonfly final : public routing::NetZoneImpl {
 public:
  Dragonfly(const std::string& name, const Shape& shape, const Cables& cables,
            std::vector<const sg4::Link*> loopbacks)
      : NetZoneImpl(name), shape_(shape), loopbacks_(std::move(loopbacks)), local_(cables.local) {
    const std::size_t all_routers = shape.groups * shape.chassis * shape.routers;
    green_.resize(all_routers * shape.routers);
    black_.resize(all_routers * shape.chassis);
    blue_.resize(shape.groups * shape.groups);
    auto cable = cables.green.begin();
    for (std::size_t chassis = 0; chassis < shape.groups * shape.chassis; ++chassis) {
      for (std::size_t a = 0; a < shape.routers; ++a) {
        for (std::size_t b = a + 1; b < shape.routers; ++b, ++cable) {
          green_[(chassis * shape.routers + a) * shape.routers + b] = cable->up;
          green_[(chassis * shape.routers + b) * shape.routers + a] = cable->down;
        }
      }
    }
    cable = cables.black.begin();
    for (std::size_t group = 0; group < shape.groups; ++group) {
      for (std::size_t a = 0; a < shape.chassis; ++a) {
        for (std::size_t b = a + 1; b < shape.chassis; ++b) {
          for (std::size_t place = 0; place < shape.routers; ++place, ++cable) {
            black_[router(group, a, place) * shape.chassis + b] = cable->up;
            black_[router(group, b, place) * shape.chassis + a] = cable->down;
          }
        }
      }
    }
    cable = cables.blue.begin();
    for (std::size_t a = 0; a < shape.groups; ++a) {
      for (std::size_t b = a + 1; b < shape.groups; ++b, ++cable) {
        blue_[a * shape.groups + b] = cable->up;
        blue_[b * shape.groups + a] = cable->down;
      }
    }
  }

 private:
  struct Place {
    std::size_t group;
    std::size_t chassis;
    std::size_t router;
  };

  [[nodiscard]] std::size_t router(std::size_t group, std::size_t chassis,
                                   std::size_t place) const {
    return (group * shape_.chassis + chassis) * shape_.routers + place;
  }
  [[nodiscard]] Place place_of(std::size_t host) const {
    const std::size_t router = host / shape_.nodes;
    const std::size_t chassis = router / shape_.routers;
    return {chassis / shape_.chassis, chassis % shape_.chassis, router % shape_.routers};
  }

  void get_local_route(const routing::NetPoint* src, const routing::NetPoint* dst,
                       routing::Route* into, double* latency) override {
    if (!src->is_host() || !dst->is_host()) return;
    const auto take = [&](const sg4::Link* link) {
      into->link_list_.push_back(link->get_impl());
      if (latency != nullptr) *latency += link->get_latency();
    };
    const std::size_t from = src->id();
    const std::size_t to = dst->id();
    if (from == to && !loopbacks_.empty()) {
      take(loopbacks_[from]);
      return;
    }
    Place here = place_of(from);
    const Place target = place_of(to);
    const auto go_within_group = [&](std::size_t chassis, std::size_t place) {
      if (here.router != place) {
        take(green_[router(here.group, here.chassis, here.router) * shape_.routers + place]);
        here.router = place;
      }
      if (here.chassis != chassis) {
        take(black_[router(here.group, here.chassis, here.router) * shape_.chassis + chassis]);
        here.chassis = chassis;
      }
    };
    take(local_[from].up);
    if (here.group != target.group) {
      // The blue link to group j hangs on router j of the first chassis.
      go_within_group(0, target.group);
      take(blue_[here.group * shape_.groups + target.group]);
      here = {target.group, 0, here.group};
    }
    go_within_group(target.chassis, target.router);
    take(local_[to].down);
  }

  Shape shape_;
  std::vector<const sg4::Link*> loopbacks_;  ///< by host, or empty
  std::vector<Cable> local_;                 ///< by host
  std::vector<const sg4::Link*> green_;      ///< by router and place
  std::vector<const sg4::Link*> black_;      ///< by router and chassis
  std::vector<const sg4::Link*> blue_;       ///< by group and group
};

/// The dragonfly that is the whole platform, or null.
routing::DragonflyZone* sole_dragonfly(const sg4::Engine& engine) {
  routing::DragonflyZone* found = nullptr;
  std::vector<sg4::NetZone*> zones{engine.get_netzone_root()};
  while (!zones.empty()) {
    sg4::NetZone* zone = zones.back();
    zones.pop_back();
    for (sg4::NetZone* child : zone->get_children()) zones.push_back(child);
    if (auto* dragonfly = dynamic_cast<routing::DragonflyZone*>(zone->get_impl())) {
      if (found != nullptr) return nullptr;
      found = dragonfly;
    }
  }
  const bool whole = found != nullptr && found->get_host_count() == engine.get_host_count();
  return whole ? found : nullptr;
}

/// The zone's hosts, in SimGrid's order.
std::vector<sg4::Host*> hosts_of(const routing::DragonflyZone& zone) {
  std::vector<sg4::Host*> hosts = zone.get_all_hosts();
  std::ranges::sort(hosts, {}, [](const sg4::Host* host) { return host->get_netpoint()->id(); });
  return hosts;
}

Shape shape_of(const routing::DragonflyZone& zone, const std::vector<sg4::Host*>& hosts) {
  Shape shape;
  for (const sg4::Host* host : hosts) {
    const auto at = zone.rankId_to_coords(host->get_netpoint()->id());
    shape.groups = std::max(shape.groups, at.group + 1);
    shape.chassis = std::max(shape.chassis, at.chassis + 1);
    shape.routers = std::max(shape.routers, at.blade + 1);
    shape.nodes = std::max(shape.nodes, at.node + 1);
  }
  return shape;
}

bool fits(const Shape& s, const Cables& cables, std::size_t hosts) {
  const auto pairs = [](std::size_t n) { return n * (n - 1) / 2; };
  return hosts == s.hosts() && cables.local.size() == hosts &&
         cables.green.size() == s.groups * s.chassis * pairs(s.routers) &&
         cables.black.size() == s.groups * pairs(s.chassis) * s.routers &&
         cables.blue.size() == pairs(s.groups);
}

}  // namespace

bool mend_dragonfly(sg4::Engine& engine) {
  routing::DragonflyZone* const zone = sole_dragonfly(engine);
  if (zone == nullptr) return false;
  const std::vector<sg4::Host*> hosts = hosts_of(*zone);
  const Shape shape = shape_of(*zone, hosts);
  const std::vector<sg4::Link*> links = engine.get_all_links();
  const Cables cables{.local = cables_of(links, "local_link_"),
                      .green = cables_of(links, "green_link_"),
                      .black = cables_of(links, "black_link_"),
                      .blue = cables_of(links, "blue_link_")};
  const bool limited = std::ranges::any_of(links, [](const sg4::Link* link) {
    return link->get_name().find("limiter") != std::string::npos;
  });
  if (shape.chassis < 2 || limited || !fits(shape, cables, hosts.size())) return false;
  std::vector<const sg4::Link*> loopbacks;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const std::string name = zone->get_name() + "_link_" + std::to_string(host) + "_loopback";
    const sg4::Link* loopback = sg4::Link::by_name_or_null(name);
    if (loopback == nullptr) break;  // none has one, or all have
    loopbacks.push_back(loopback);
  }
  auto* mended = new Dragonfly(zone->get_name() + "_mended", shape, cables, std::move(loopbacks));
  take_over(mended, *zone, points_of(hosts));
  return true;
}

}  // namespace thinwire::topologies
