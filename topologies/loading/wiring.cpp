#include "topologies/loading/wiring.hpp"

#include <fmt/format.h>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/random.hpp"
#include "topologies/loading/own_zone.hpp"

namespace thinwire::topologies {

namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

constexpr double kMostWiredCables = 2e7;  // as of one cluster of SimGrid's
constexpr std::uint64_t kCableSeed = 1;

/// A number of a topology by its name: "groups" 14.
using Numbers = std::map<std::string, std::size_t>;

using LinkImpl = simgrid::kernel::resource::StandardLinkImpl;

/// A link as routes hold it: SimGrid takes a while to find the second from the first.
struct Hop {
  const sg4::Link* link = nullptr;  ///< nullptr: a WiredLink
  LinkImpl* impl = nullptr;

  [[nodiscard]] double latency() const {
    return link != nullptr ? link->get_latency()
                           : static_cast<const WiredLink*>(static_cast<const void*>(impl))->latency;
  }
};

Hop hop_over(const sg4::Link* link) { return {.link = link, .impl = link->get_impl()}; }

struct WiredCable {
  Hop up;
  Hop down;
};

/// Makes the cables of a platform.
class CableMaker {
 public:
  /// In a zone of SimGrid's.
  explicit CableMaker(sg4::NetZone& zone) : zone_(&zone) {}
  /// In a list, which has the capacity for all of them: routes hold their addresses.
  explicit CableMaker(std::vector<WiredLink>& links) : links_(&links) {}

  /// `kind` is the beginning of the name, and the end of the property with the figures.
  WiredCable operator()(const std::string& kind, const std::string& rest) {
    // Not a SplitDuplexLink, which is a third object.
    return {.up = make(kind + rest + "_UP"), .down = make(kind + rest + "_DOWN")};
  }

 private:
  [[nodiscard]] Hop make(const std::string& name) {
    if (zone_ != nullptr) return hop_over(zone_->create_link(name, 1.0)->seal());
    return {.link = nullptr, .impl = held_by_routes(links_->emplace_back(WiredLink{.name = name}))};
  }

  sg4::NetZone* zone_ = nullptr;
  std::vector<WiredLink>* links_ = nullptr;
};

/// Collects the links of a route, and their latency where it is asked for.
class RouteTaker {
 public:
  RouteTaker(routing::Route* route, double* latency) : route_(route), latency_(latency) {}
  void operator()(const Hop& hop) const {
    route_->link_list_.push_back(hop.impl);
    if (latency_ != nullptr) *latency_ += hop.latency();
  }

 private:
  routing::Route* route_;
  double* latency_;
};

/// Hosts are numbered as in wiring.hpp.
class WiredZone : public routing::NetZoneImpl {
 public:
  void set_hosts(const std::vector<sg4::Host*>& hosts, const std::vector<Cable>& ports) {
    for (const Cable& port : ports) {
      ports_.push_back({.up = hop_over(port.up), .down = hop_over(port.down)});
    }
    for (std::uint32_t number = 0; number < hosts.size(); ++number) {
      const auto point = hosts[number]->get_netpoint()->id();
      if (point >= number_of_.size()) number_of_.resize(point + 1);
      number_of_[point] = number;
    }
  }

  [[nodiscard]] virtual WiredHost place_of(std::size_t host) const = 0;

 protected:
  explicit WiredZone(const std::string& name) : NetZoneImpl(name) {}

  virtual void walk(std::size_t from, std::size_t to, const RouteTaker& take) = 0;

  [[nodiscard]] const WiredCable& port(std::size_t host) const { return ports_[host]; }

 private:
  void get_local_route(const routing::NetPoint* src, const routing::NetPoint* dst,
                       routing::Route* into, double* latency) override {
    if (!src->is_host() || !dst->is_host()) return;
    walk(number_of_[src->id()], number_of_[dst->id()], RouteTaker(into, latency));
  }

  std::vector<WiredCable> ports_;         ///< by host
  std::vector<std::uint32_t> number_of_;  ///< of hosts, by the id of their netpoints
};

/// The cables between any two of several groups, spread over the switches of each.
class SpreadCables {
 public:
  SpreadCables(std::size_t groups, std::size_t switches, std::size_t cables,
               const std::string& kind, CableMaker& make)
      : groups_(groups), switches_(switches), cables_(cables), links_(groups * groups * cables) {
    for (std::size_t a = 0; a < groups; ++a) {
      for (std::size_t b = a + 1; b < groups; ++b) {
        for (std::size_t c = 0; c < cables; ++c) {
          const WiredCable cable = make(kind, fmt::format("{}-{}.{}", a, b, c));
          links_[(a * groups + b) * cables + c] = cable.up;
          links_[(b * groups + a) * cables + c] = cable.down;
        }
      }
    }
  }

  [[nodiscard]] std::size_t cables() const { return cables_; }
  /// The switch of `group` at the end of a cable to another group.
  [[nodiscard]] std::size_t end(std::size_t group, std::size_t other, std::size_t cable) const {
    const std::size_t others_before = other - (other > group ? 1 : 0);
    return (others_before * cables_ + cable) % switches_;
  }
  [[nodiscard]] const Hop& link(std::size_t from, std::size_t to, std::size_t cable) const {
    return links_[(from * groups_ + to) * cables_ + cable];
  }

 private:
  std::size_t groups_;
  std::size_t switches_;
  std::size_t cables_;
  std::vector<Hop> links_;  ///< by group, group and cable
};

class SpreadDragonfly final : public WiredZone {
 public:
  SpreadDragonfly(const std::string& name, const Numbers& numbers, CableMaker& make)
      : WiredZone(name),
        chassis_(numbers.at("chassis")),
        places_(numbers.at("routers")),
        nodes_(numbers.at("nodes")),
        routers_(chassis_ * places_),
        blue_(numbers.at("groups"), routers_, numbers.at("cables"), "blue-", make) {
    const std::size_t groups = numbers.at("groups");
    green_.resize(groups * routers_ * places_);
    black_.resize(groups * routers_ * chassis_);
    for (std::size_t row = 0; row < groups * chassis_; ++row) make_green(row, make);
    for (std::size_t group = 0; group < groups; ++group) make_black(group, make);
  }

  [[nodiscard]] WiredHost place_of(std::size_t host) const override {
    const std::size_t router = host / nodes_;
    return {.node = {},
            .group = static_cast<std::uint32_t>(router / routers_),
            .access = static_cast<std::uint32_t>(router % routers_)};
  }

 private:
  /// Makes the cables of one chassis.
  void make_green(std::size_t row, CableMaker& make) {
    for (std::size_t a = 0; a < places_; ++a) {
      for (std::size_t b = a + 1; b < places_; ++b) {
        const WiredCable cable =
            make("green-", fmt::format("{}.{}.{}-{}", row / chassis_, row % chassis_, a, b));
        green_[(row * places_ + a) * places_ + b] = cable.up;
        green_[(row * places_ + b) * places_ + a] = cable.down;
      }
    }
  }
  void make_black(std::size_t group, CableMaker& make) {
    for (std::size_t a = 0; a < chassis_; ++a) {
      for (std::size_t b = a + 1; b < chassis_; ++b) {
        for (std::size_t place = 0; place < places_; ++place) {
          const WiredCable cable = make("black-", fmt::format("{}.{}-{}.{}", group, a, b, place));
          black_[(group * routers_ + a * places_ + place) * chassis_ + b] = cable.up;
          black_[(group * routers_ + b * places_ + place) * chassis_ + a] = cable.down;
        }
      }
    }
  }

  /// From one router of a group to another.
  void walk_in_group(std::size_t group, std::size_t from, std::size_t to,
                     const RouteTaker& take) const {
    std::size_t here = group * routers_ + from;
    const std::size_t place = to % places_;
    if (from % places_ != place) {
      take(green_[here * places_ + place]);
      here = here - from % places_ + place;
    }
    if (from / places_ != to / places_) take(black_[here * chassis_ + to / places_]);
  }

  /// The cable on which a route from a router of group `a` to one of group `b` crosses.
  [[nodiscard]] std::size_t cable_between(std::size_t a, std::size_t from, std::size_t b,
                                          std::size_t to) const {
    const std::size_t cables = blue_.cables();
    const std::size_t turn = (from + routers_ - blue_.end(a, b, 0)) % routers_;
    if (turn >= cables) return (turn - cables) * cables / (routers_ - cables);
    // From cable R on, the ends of the first R cables repeat.
    const std::size_t own = (cables - turn + routers_ - 1) / routers_;
    if (own == 1) return turn;
    const std::uint64_t draw = random_bits(kCableSeed, a * routers_ + from, b * routers_ + to);
    return turn + draw % own * routers_;
  }

  void walk(std::size_t from, std::size_t to, const RouteTaker& take) override {
    const std::size_t a = from / nodes_ / routers_;
    const std::size_t b = to / nodes_ / routers_;
    const std::size_t source = from / nodes_ % routers_;
    const std::size_t target = to / nodes_ % routers_;
    take(port(from).up);
    if (a == b) {
      walk_in_group(a, source, target, take);
    } else {
      const std::size_t cable = cable_between(a, source, b, target);
      walk_in_group(a, source, blue_.end(a, b, cable), take);
      take(blue_.link(a, b, cable));
      walk_in_group(b, blue_.end(b, a, cable), target, take);
    }
    take(port(to).down);
  }

  std::size_t chassis_;
  std::size_t places_;  ///< routers of a chassis
  std::size_t nodes_;
  std::size_t routers_;  ///< of a group
  SpreadCables blue_;
  std::vector<Hop> green_;  ///< by router and place
  std::vector<Hop> black_;  ///< by router and chassis
};

class DragonflyPlus final : public WiredZone {
 public:
  DragonflyPlus(const std::string& name, const Numbers& numbers, CableMaker& make)
      : WiredZone(name),
        leaves_(numbers.at("leaves")),
        spines_(numbers.at("spines")),
        nodes_(numbers.at("nodes")),
        global_(numbers.at("cells"), spines_, numbers.at("cables"), "global-", make) {
    for (std::size_t leaf = 0; leaf < numbers.at("cells") * leaves_; ++leaf) {
      for (std::size_t spine = 0; spine < spines_; ++spine) {
        uplinks_.push_back(
            make("uplink-", fmt::format("{}.{}-{}", leaf / leaves_, leaf % leaves_, spine)));
      }
    }
  }

  [[nodiscard]] WiredHost place_of(std::size_t host) const override {
    const std::size_t leaf = host / nodes_;
    return {.node = {},
            .group = static_cast<std::uint32_t>(leaf / leaves_),
            .access = static_cast<std::uint32_t>(leaf % leaves_)};
  }

 private:
  void walk(std::size_t from, std::size_t to, const RouteTaker& take) override {
    const std::size_t source = from / nodes_;  // leaves
    const std::size_t target = to / nodes_;
    const std::size_t a = source / leaves_;
    const std::size_t b = target / leaves_;
    const std::size_t number = to % (leaves_ * nodes_);
    take(port(from).up);
    if (a != b) {
      const std::size_t cable = number % global_.cables();
      take(uplinks_[source * spines_ + global_.end(a, b, cable)].up);
      take(global_.link(a, b, cable));
      take(uplinks_[target * spines_ + global_.end(b, a, cable)].down);
    } else if (source != target) {
      take(uplinks_[source * spines_ + number % spines_].up);
      take(uplinks_[target * spines_ + number % spines_].down);
    }
    take(port(to).down);
  }

  std::size_t leaves_;
  std::size_t spines_;
  std::size_t nodes_;  ///< of a leaf
  SpreadCables global_;
  std::vector<WiredCable> uplinks_;  ///< by leaf of the platform and spine
};

class Rails final : public WiredZone {
 public:
  Rails(const std::string& name, const Numbers& numbers, CableMaker& make)
      : WiredZone(name), nodes_(numbers.at("nodes")), gpus_(numbers.at("gpus")) {
    const std::size_t islands = numbers.at("islands");
    for (std::size_t gpu = 0; gpu < islands * nodes_ * gpus_; ++gpu) {
      nvlinks_.push_back(make("nvlink-", std::to_string(gpu)));
    }
    for (std::size_t at = 0; at < islands * gpus_ && islands * gpus_ > 1; ++at) {
      uplinks_.push_back(make("uplink-", fmt::format("{}.{}", at / gpus_, at % gpus_)));
    }
  }

  [[nodiscard]] WiredHost place_of(std::size_t host) const override {
    return {.node = fmt::format("node-{}", host / gpus_),
            .group = static_cast<std::uint32_t>(host / gpus_ / nodes_)};
  }

 private:
  void walk(std::size_t from, std::size_t to, const RouteTaker& take) override {
    if (from / gpus_ == to / gpus_) {
      take(nvlinks_[from].up);
      take(nvlinks_[to].down);
      return;
    }
    const std::size_t source = from / gpus_ / nodes_ * gpus_ + from % gpus_;  // switches
    const std::size_t target = to / gpus_ / nodes_ * gpus_ + to % gpus_;
    take(port(from).up);
    if (source != target) {
      take(uplinks_[source].up);
      take(uplinks_[target].down);
    }
    take(port(to).down);
  }

  std::size_t nodes_;                ///< of an island
  std::size_t gpus_;                 ///< of a node
  std::vector<WiredCable> nvlinks_;  ///< by host
  std::vector<WiredCable> uplinks_;  ///< by island and rail
};

constexpr std::array kTorusDimensions{"x", "y", "z", "a", "b", "c"};

class Torus final : public WiredZone {
 public:
  Torus(const std::string& name, const Numbers& numbers, CableMaker& make) : WiredZone(name) {
    std::size_t hosts = 1;
    for (const char* dimension : kTorusDimensions) hosts *= numbers.at(dimension);
    std::size_t stride = 1;
    for (std::size_t i = kTorusDimensions.size(); i-- > 0;) {
      const char* const dimension = kTorusDimensions.at(i);
      const std::size_t size = numbers.at(dimension);
      if (size > 1) rings_.push_back(ring_of(dimension, size, stride, hosts, make));
      stride *= size;
    }
  }

  [[nodiscard]] WiredHost place_of(std::size_t host) const override {
    return {.node = {}, .group = 0, .access = static_cast<std::uint32_t>(host)};
  }

 private:
  /// The cables of one dimension: the cable of a host leads to the next host.
  struct Ring {
    std::size_t size = 0;
    std::size_t stride = 0;  ///< between the numbers of neighbours
    std::vector<WiredCable> cables;

    [[nodiscard]] std::size_t next(std::size_t host) const {
      return host / stride % size + 1 < size ? host + stride : host - (size - 1) * stride;
    }
    [[nodiscard]] std::size_t previous(std::size_t host) const {
      return host / stride % size > 0 ? host - stride : host + (size - 1) * stride;
    }
  };

  static Ring ring_of(const char* dimension, std::size_t size, std::size_t stride,
                      std::size_t hosts, CableMaker& make) {
    Ring ring{.size = size, .stride = stride, .cables = std::vector<WiredCable>(hosts)};
    for (std::size_t host = 0; host < hosts; ++host) {
      if (size == 2 && host / stride % size == 1) continue;  // two hosts have one cable
      ring.cables[host] = make(fmt::format("{}-", dimension), std::to_string(host));
    }
    return ring;
  }

  void walk(std::size_t from, std::size_t to, const RouteTaker& take) override {
    take(port(from).up);
    std::size_t here = from;
    for (const Ring& ring : rings_) {
      const std::size_t ahead =
          (to / ring.stride % ring.size + ring.size - here / ring.stride % ring.size) % ring.size;
      // A pair has one cable, which belongs to the first host.
      const bool up = ring.size == 2 ? here < ring.next(here) : 2 * ahead <= ring.size;
      for (std::size_t steps = up ? ahead : (ring.size - ahead) % ring.size; steps > 0; --steps) {
        if (up) take(ring.cables[here].up);
        here = up ? ring.next(here) : ring.previous(here);
        if (!up) take(ring.cables[here].down);
      }
    }
    take(port(to).down);
  }

  std::vector<Ring> rings_;  ///< of the dimensions with more than one host, the last first
};

template <class Zone>
WiredZone* made(const std::string& name, const Numbers& numbers, CableMaker& make) {
  return new Zone(name, numbers, make);
}

double pairs(double n) { return n * (n - 1) / 2; }

/// A topology that the property may name.
struct Wiring {
  std::string name;
  std::vector<std::string> hosts;  ///< numbers whose product is the number of hosts
  std::vector<std::string> others;
  /// The number of cables of each kind of link that there is, by the beginning of the links' names.
  std::function<std::map<std::string, double>(const std::function<double(const char*)>&)> cables;
  WiredZone* (*make)(const std::string&, const Numbers&, CableMaker&);
};

const std::vector<Wiring>& all_wirings() {
  using Number = std::function<double(const char*)>;
  static const std::vector<Wiring> wirings{
      {"dragonfly",
       {"groups", "chassis", "routers", "nodes"},
       {"cables"},
       [](const Number& n) {
         return std::map<std::string, double>{
             {"green-", n("groups") * n("chassis") * pairs(n("routers"))},
             {"black-", n("groups") * n("routers") * pairs(n("chassis"))},
             {"blue-", pairs(n("groups")) * n("cables")}};
       },
       &made<SpreadDragonfly>},
      {"dragonfly_plus",
       {"cells", "leaves", "nodes"},
       {"spines", "cables"},
       [](const Number& n) {
         return std::map<std::string, double>{{"uplink-", n("cells") * n("leaves") * n("spines")},
                                              {"global-", pairs(n("cells")) * n("cables")}};
       },
       &made<DragonflyPlus>},
      {"rails",
       {"islands", "nodes", "gpus"},
       {},
       [](const Number& n) {
         const double switches = n("islands") * n("gpus");
         return std::map<std::string, double>{{"nvlink-", switches * n("nodes")},
                                              {"uplink-", switches > 1 ? switches : 0}};
       },
       &made<Rails>},
      {"torus",
       {kTorusDimensions.begin(), kTorusDimensions.end()},
       {},
       [](const Number& n) {
         double hosts = 1;
         for (const char* dimension : kTorusDimensions) hosts *= n(dimension);
         std::map<std::string, double> cables;
         for (const char* dimension : kTorusDimensions) {
           const double size = n(dimension);
           cables[std::string(dimension) + "-"] = size > 2 ? hosts : size == 2 ? hosts / 2 : 0;
         }
         return cables;
       },
       &made<Torus>}};
  return wirings;
}

[[noreturn]] void refuse_topology(const std::string& path, const std::string& why) {
  throw InputError("{}: property thinwire.topology: {}", path, why);
}

const Wiring& wiring_named(const std::string& path, const std::string& name) {
  std::vector<std::string> names;
  for (const Wiring& wiring : all_wirings()) {
    if (wiring.name == name) return wiring;
    names.push_back(wiring.name);
  }
  refuse_topology(path,
                  fmt::format("unknown topology '{}'{}", excerpt(name), did_you_mean(name, names)));
}

/// The words after the name: "groups=14 chassis=6 ...".
Numbers numbers_of(const std::string& path, const Wiring& wiring, std::istringstream& words) {
  std::vector<std::string> known = wiring.hosts;
  known.insert(known.end(), wiring.others.begin(), wiring.others.end());
  Numbers numbers;
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string key = word.substr(0, equals);
    if (std::ranges::find(known, key) == known.end()) {
      refuse_topology(path, fmt::format("{} has no '{}'{}", wiring.name, excerpt(key),
                                        did_you_mean(key, known)));
    }
    const auto number = parse_number<std::uint32_t>(
        std::string_view(word).substr(std::min(equals + 1, word.size())));
    if (!number || *number == 0) {
      refuse_topology(path, fmt::format("'{}' is not valid; expected a whole number from 1, as in "
                                        "{}=4",
                                        excerpt(word), key));
    }
    if (!numbers.emplace(key, *number).second) {
      refuse_topology(path, fmt::format("{} is given twice", key));
    }
  }
  for (const std::string& key : known) {
    if (!numbers.contains(key)) {
      refuse_topology(path, fmt::format("{} has no {}; wanted are {}", wiring.name, key,
                                        fmt::join(known, ", ")));
    }
  }
  return numbers;
}

/// The zone that all hosts are in, and that has a full-duplex link for each host and no other.
struct PlainCluster {
  routing::NetZoneImpl* zone = nullptr;
  std::vector<sg4::Host*> hosts;
  std::vector<Cable> ports;  ///< by host
};

PlainCluster plain_cluster(const sg4::Engine& engine, const std::string& path) {
  PlainCluster cluster;
  cluster.hosts = engine.get_all_hosts();
  // They differ in a number alone.
  std::ranges::sort(cluster.hosts, {}, [](const sg4::Host* host) {
    return std::pair(std::string_view(host->get_cname()).size(), std::string(host->get_name()));
  });
  const auto refuse = [&] {
    refuse_topology(path,
                    "expected one plain cluster of hosts with sharing_policy=\"SPLITDUPLEX\", and "
                    "nothing else");
  };
  if (cluster.hosts.empty()) refuse();
  cluster.zone = cluster.hosts.front()->get_netpoint()->get_englobing_zone();
  const bool together = std::ranges::all_of(cluster.hosts, [&](const sg4::Host* host) {
    return host->get_netpoint()->get_englobing_zone() == cluster.zone;
  });
  const std::vector<sg4::Link*> links = cluster.zone->get_all_links();
  const std::string prefix = cluster.zone->get_name() + "_link_";
  const bool plain = std::ranges::all_of(links, [&](const sg4::Link* link) {
    const std::string& name = link->get_name();
    const bool number = name.size() > prefix.size() && name.starts_with(prefix) &&
                        name.find_first_not_of("0123456789", prefix.size()) == name.rfind('_');
    return number && (name.ends_with("_UP") || name.ends_with("_DOWN"));
  });
  if (!together || !plain || links.size() != 2 * cluster.hosts.size()) refuse();
  cluster.ports = cables_of(links, prefix);
  return cluster;
}

}  // namespace

Wired wire(sg4::Engine& engine, const std::string& path, const std::string& topology,
           WiredLinks links) {
  std::istringstream words(topology);
  std::string name;
  words >> name;
  const Wiring& wiring = wiring_named(path, name);
  const Numbers numbers = numbers_of(path, wiring, words);
  const auto number = [&](const char* key) { return static_cast<double>(numbers.at(key)); };

  double hosts = 1;
  for (const std::string& key : wiring.hosts) hosts *= number(key.c_str());
  double cables = 0;
  const auto& properties = *engine.get_netzone_root()->get_properties();
  for (const auto& [kind, count] : wiring.cables(number)) {
    cables += count;
    if (count > 0 && !properties.contains("thinwire.link." + kind)) {
      throw InputError(
          "{}: property thinwire.link.{} is missing: bandwidth and latency of the links {}, as in "
          "'5.25GBps 100ns'",
          path, kind, kind);
    }
  }
  if (cables > kMostWiredCables) {
    refuse_topology(path, fmt::format("makes {:.0f} cables; a platform may have {:.0f}", cables,
                                      kMostWiredCables));
  }
  const PlainCluster cluster = plain_cluster(engine, path);
  if (hosts != static_cast<double>(cluster.hosts.size())) {
    refuse_topology(path, fmt::format("makes {:.0f} hosts, and the cluster has {}", hosts,
                                      cluster.hosts.size()));
  }

  Wired wired;
  if (links == WiredLinks::ours) wired.links.reserve(2 * static_cast<std::size_t>(cables));
  CableMaker make =
      links == WiredLinks::ours ? CableMaker(wired.links) : CableMaker(*engine.get_netzone_root());
  WiredZone* const zone = wiring.make(cluster.zone->get_name() + "_wired", numbers, make);
  zone->set_hosts(cluster.hosts, cluster.ports);
  take_over(zone, *cluster.zone, points_of(cluster.hosts));
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    wired.hosts.emplace(cluster.hosts[host], zone->place_of(host));
  }
  return wired;
}

}  // namespace thinwire::topologies
