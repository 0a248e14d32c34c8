// Makes compact routes of the routes that SimGrid gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "topologies/loading/compact_route.hpp"
#include "topologies/loading/link_pool.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

class RouteMaker {
 public:
  /// `hosts` is indexed by site. Inner links are stored in `halves`, and the kinds of routes
  /// in `kinds`. All arguments must outlive the RouteMaker.
  RouteMaker(const Platform& platform, std::span<const HostIndex> hosts,
             std::vector<LinkIndex>& halves, std::vector<RouteKind>& kinds);

  /// SimGrid's route between two sites without weights; valid until the next call.
  const std::vector<LinkIndex>& route(SiteIndex from, SiteIndex to);
  /// The same in few bytes. Throws InputError for a route of more than 255 links, and if routes are of
  /// more than 65,536 kinds.
  CompactRoute compact_route(SiteIndex from, SiteIndex to);

  [[nodiscard]] double bandwidth(LinkIndex link) const { return bandwidth_[link]; }
  /// The first links of the routes from a site so far, in the order in which they were found.
  [[nodiscard]] std::vector<LinkIndex>& up_ports(SiteIndex site) { return up_[site]; }
  [[nodiscard]] const std::vector<std::vector<LinkIndex>>& up_ports() const { return up_; }
  /// The last links of the routes to it, likewise.
  [[nodiscard]] std::vector<LinkIndex>& down_ports(SiteIndex site) { return down_[site]; }
  [[nodiscard]] const std::vector<std::vector<LinkIndex>>& down_ports() const { return down_; }
  void forget_ports();
  /// From now on, a first or last link that is not yet a port is an inner link of its route.
  void keep_ports() { ports_kept_ = true; }

 private:
  [[nodiscard]] const std::string& name_of(SiteIndex site) const {
    return platform_.hosts()[hosts_[site]].name;
  }
  [[nodiscard]] std::uint8_t port_of(std::vector<LinkIndex>& ports, LinkIndex link) const;
  std::uint16_t kind_index(const RouteKind& kind);

  const Platform& platform_;
  std::span<const HostIndex> hosts_;
  LinkPool pool_;
  std::vector<RouteKind>& kinds_;
  std::vector<bool> weight_;       ///< the members from here to latency_ are indexed by link
  std::vector<double> bandwidth_;  ///< bytes a second
  std::vector<double> latency_;    ///< seconds
  std::map<std::pair<double, double>, std::uint16_t> kind_indexes_;
  std::vector<LinkIndex> links_;            ///< of the last route
  double distance_ = 0;                     ///< seconds that it takes beyond its links
  std::vector<std::vector<LinkIndex>> up_;  ///< by site
  std::vector<std::vector<LinkIndex>> down_;
  bool ports_kept_ = false;
};

/// The routes between many sites, each of which is asked of SimGrid when it is needed. Those that were
/// needed last are kept.
class RoutesOnDemand {
 public:
  /// Keeps up to `kept` routes, a power of two.
  RoutesOnDemand(RouteMaker maker, std::size_t kept) : maker_(std::move(maker)), kept_(kept) {}

  CompactRoute route(SiteIndex from, SiteIndex to) {
    Kept& kept = kept_[random_bits(from, to) & (kept_.size() - 1)];
    if (kept.from != from || kept.to != to) kept = {from, to, maker_.compact_route(from, to)};
    return kept.route;
  }
  /// The bytes of memory that it holds.
  [[nodiscard]] std::size_t bytes() const { return kept_.capacity() * sizeof(Kept); }

 private:
  static constexpr SiteIndex kNoSite = UINT32_MAX;
  struct Kept {
    SiteIndex from = kNoSite;
    SiteIndex to = kNoSite;
    CompactRoute route = {};
  };

  RouteMaker maker_;
  std::vector<Kept> kept_;
};

}  // namespace thinwire::topologies
