// The routes between the hosts of a job, compact enough for thousands of ranks and looked up in
// tens of nanoseconds: what a network of our own asks for with every message.
//
// A route is a port of the sender, inner links, and a port of the receiver. Hosts behind one switch
// have the inner links of their routes in common, so these are held for classes of hosts:
// sources whose routes to some probes are the same but for the first link, and destinations whose
// routes from some probes are the same but for the last. Every pair of classes is asked of SimGrid
// once. Pairs within a node are held apart, each asked. Random pairs are then compared with
// SimGrid's own routes; where one differs, every host becomes a class of its own, which takes long
// and is right. On few hosts each is its own from the start.
//
// The inner links of a route are stored as two halves, and equal halves once. The first half says
// how the sender's switch reaches a distant part of the machine, and the second how the receiver's
// switch is reached from there. Both are few; most pairs of switches have their own inner links.
//
// On 100,000 hosts even the pairs of classes are too many: 250 million on a fat tree. Where few
// ranks stand for all (docs/explanation/approximate.md), only the routes from and to the hosts of
// some ranks, the block, are asked for. Else each route can be asked for when it is needed; the
// schemes that so many ranks can run have a few dozen of each rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "topologies/loading/compact_route.hpp"
#include "topologies/loading/platform.hpp"
#include "topologies/loading/route_maker.hpp"

namespace thinwire::topologies {

struct CompactRoutesLimits {
  std::size_t all_pairs_up_to = 512;     ///< sites; on more, classes
  std::size_t pairs_compared = 100'000;  ///< with SimGrid's own routes, where there are classes
  /// Routes. If there are more, and no block, each is asked for when it is needed.
  std::size_t held_up_to = SIZE_MAX;
};

class CompactRoutes {
 public:
  /// `hosts` is indexed by rank; hosts may repeat. The block holds the first `block` ranks;
  /// with 0 there is none, and all routes are known unless they are found on demand. Throws
  /// InputError naming both hosts where there is no route, and for routes of more than 255 links;
  /// on demand, route() does.
  CompactRoutes(const Platform& platform, std::span<const HostIndex> hosts, std::size_t block = 0,
                const CompactRoutesLimits& limits = {});
  ~CompactRoutes() = default;
  CompactRoutes(const CompactRoutes&) = delete;  // what finds routes refers to the members
  CompactRoutes& operator=(const CompactRoutes&) = delete;

  /// In the order of hosts, whatever the order of ranks.
  [[nodiscard]] std::size_t sites() const { return hosts_.size(); }
  [[nodiscard]] SiteIndex site_of(std::size_t rank) const { return site_of_[rank]; }
  [[nodiscard]] HostIndex host_of(SiteIndex site) const { return hosts_[site]; }

  /// What a site's routes are looked up by.
  struct Site {
    std::uint32_t node = 0;  ///< sites of the same node find their routes among those within nodes
    std::uint32_t near = 0;  ///< where this site's routes begin there
    std::uint32_t place = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  [[nodiscard]] const Site& site(SiteIndex index) const { return sites_[index]; }

  /// A site's route to itself is what SimGrid says: a loopback, ports, or no link at all; the last
  /// is as fast as infinity. Only without a block.
  [[nodiscard]] CompactRoute route(const Site& from, const Site& to) const {
    if (from.node == to.node) [[unlikely]]
      return near_[from.near + to.place];
    return table_[std::size_t{from.row} * columns_ + to.column];
  }
  [[nodiscard]] CompactRoute route(SiteIndex from, SiteIndex to) const {
    return on_demand_ ? on_demand_->route(from, to) : route(site(from), site(to));
  }
  /// Whether routes are asked for when they are needed. Then there is no table: route() of two
  /// `Site`s and prefetch() must not be called, and inner links are valid until the next call of
  /// route(). Such routes must not be used by two threads at once.
  [[nodiscard]] bool on_demand() const { return on_demand_ != nullptr; }
  /// The route from a site of the block to any site.
  [[nodiscard]] CompactRoute route_from_block(const Site& from, const Site& to) const {
    if (from.node == to.node) return near_[from.near + to.place];
    return table_[std::size_t{block_rows_[from.row]} * columns_ + to.column];
  }
  /// The route from any site to a site of the block.
  [[nodiscard]] CompactRoute route_to_block(const Site& from, const Site& to) const {
    if (from.node == to.node) return near_[from.near + to.place];
    return back_[std::size_t{block_columns_[to.column]} * rows_ + from.row];
  }
  /// What route() reads of the table.
  void prefetch(const Site& from, const Site& to) const {
    prefetch_line(table_.data() + std::size_t{from.row} * columns_ + to.column);
  }
  /// The inner links of a route, in two stretches.
  [[nodiscard]] std::array<std::span<const LinkIndex>, 2> inner_links(CompactRoute route) const {
    const std::size_t first = first_half(route.hops);
    return {std::span(halves_.data() + route.head, first),
            std::span(halves_.data() + route.tail, route.hops - first)};
  }
  /// The inner links of all routes, one after the other.
  [[nodiscard]] std::span<const LinkIndex> all_inner_links() const { return halves_; }
  /// Calls `visit` for every route that is held, of whichever sites.
  template <class Visit>
  void for_each_route(const Visit& visit) const {
    for (const CompactRoute route : table_) visit(route);
    for (const CompactRoute route : back_) visit(route);
    for (const CompactRoute route : near_) visit(route);
  }
  void prefetch_inner_links(CompactRoute route) const {
    prefetch_line(halves_.data() + route.head);
    prefetch_line(halves_.data() + route.tail);
  }

  /// First links of a site's routes, at most 15; where there are more, the rest are inner
  /// links of their routes.
  [[nodiscard]] std::span<const LinkIndex> up_ports(SiteIndex site) const {
    return ports_of(up_, site);
  }
  /// Last links of the routes to a site, likewise.
  [[nodiscard]] std::span<const LinkIndex> down_ports(SiteIndex site) const {
    return ports_of(down_, site);
  }
  [[nodiscard]] const RouteKind& kind(CompactRoute route) const { return kinds_[route.kind]; }

  /// Whether SimGrid was asked for every route, or is when it is needed; else for pairs of classes.
  [[nodiscard]] bool complete() const { return complete_; }
  /// The same for sites whose routes are the same but for their first links: they are behind the
  /// same access switch. Only without a block, and not on demand.
  [[nodiscard]] std::uint32_t switch_of(SiteIndex site) const { return switches_[site]; }
  /// Source classes and destination classes.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  /// The bytes of memory that it holds.
  [[nodiscard]] std::size_t bytes() const;

  /// A whole route, for tests and tools; with a block, from it or to it.
  [[nodiscard]] std::vector<LinkIndex> links(SiteIndex from, SiteIndex to) const;

 private:
  class Maker;

  struct Ports {
    std::vector<LinkIndex> links = {};
    std::vector<std::uint32_t> begin = {};  ///< by site, and one more
  };
  [[nodiscard]] static std::span<const LinkIndex> ports_of(const Ports& ports, SiteIndex site) {
    return {ports.links.data() + ports.begin[site], ports.begin[site + 1] - ports.begin[site]};
  }

  std::vector<SiteIndex> site_of_;  ///< by rank
  std::vector<HostIndex> hosts_;    ///< by site
  std::vector<Site> sites_;
  std::vector<CompactRoute>
      table_;  ///< by row and column; with a block, by row of the block and column
  std::vector<CompactRoute> back_;  ///< with a block: by column of the block and row
  /// The number of each row and column among the block's rows or columns; kNotOfBlock without a site there.
  std::vector<std::uint32_t> block_rows_;
  std::vector<std::uint32_t> block_columns_;
  static constexpr std::uint32_t kNotOfBlock = UINT32_MAX;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<CompactRoute> near_;
  mutable std::vector<LinkIndex> halves_;  ///< grows on demand, as kinds_ does
  Ports up_;
  Ports down_;
  mutable std::vector<RouteKind> kinds_;
  std::vector<std::uint32_t> switches_;
  bool complete_ = false;
  std::unique_ptr<RoutesOnDemand> on_demand_;
};

}  // namespace thinwire::topologies
