// The links of a platform as its ranks use them: the path of a message, which of its links are
// ports, and the message's demand on them.
//
// Few ranks may stand for all (docs/explanation/approximate.md). A message from rank a to rank b
// then stands for those from a + jR to b + jR, where R ranks run. If the platform looks the same
// from a and from a + R, all of them are served alike, and the links near the sender of one do what
// the links near the sender of another do. So the path is taken together from two of these
// messages: as far as its longest cable from the one that a rank of the first R sends, and from
// there on from the one that such a rank receives. Only links near the first R ranks are used, by
// as many messages as in the run of all ranks.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/fair_links.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"
#include "sim/machine/networks/common/transfer.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

class LinkRecorder;

/// The routes, ports and link capacities of a platform. They are the same for all runs.
class Fabric {
 public:
  using Route = topologies::CompactRoute;
  using Recorder = LinkRecorder;
  static constexpr bool kOnlyPorts = false;
  static constexpr bool kHasPlaces = true;
  static constexpr bool kMayAdapt = true;

  /// The first `ranks` hosts of the routes are the hosts of the ranks. With `settings.representatives`,
  /// the routes have a block of these. All arguments must outlive the Fabric.
  Fabric(const topologies::Platform& platform, const topologies::CompactRoutes& routes,
         std::size_t ranks, const LinksSettings& settings);

  [[nodiscard]] Route route(Rank from, Rank to) const {
    if (has_table_) return routes_.route(end(from).routed_by, end(to).routed_by);
    if (settings_.representatives == 0) return routes_.route(site(from), site(to));
    const auto [sender, there] = sent_by_first(from, to);
    return routes_.route_from_block(end(sender).routed_by, end(there).routed_by);
  }
  /// The links of the platform, without the links of the processes.
  [[nodiscard]] std::size_t links() const { return bandwidths_.size(); }
  /// What each rank can send, and what it can receive, in bytes per second: links that follow the
  /// platform's, two for each rank. Empty if the NIC alone limits it.
  [[nodiscard]] std::vector<double> process_bandwidths() const {
    std::vector<double> all;
    if (limits_processes()) all.assign(2 * ranks_, process_bandwidth_);
    return all;
  }

  /// Prefetches what route() reads of a rank, and then, which reads this, what else it reads.
  void prefetch_end(Rank rank) const { prefetch_line(&end(rank)); }
  void prefetch_route(Rank from, Rank to, const FairLinks& /*links*/) const {
    if (has_table_) routes_.prefetch(end(from).routed_by, end(to).routed_by);
  }
  /// Prefetches what path() reads.
  void prefetch_path(Route route) const { routes_.prefetch_inner_links(route); }
  /// A time, in seconds, that is at most the smallest latency of a route. A message that a rank
  /// posts because of an event reaches its links at least this long after the event.
  [[nodiscard]] double lookahead() const { return lookahead_; }

  /// The latency of all links of a minimal route, in seconds.
  [[nodiscard]] double latency(Rank from, Rank to, Route route) const {
    const Ends sent = settings_.representatives == 0 ? Ends{from, to} : sent_by_first(from, to);
    double sum = 0;
    if (route.up != Route::kNoPort) sum += up_port(sent.from, route).latency;
    sum += routes_.kind(route).latency;
    if (route.down != Route::kNoPort) sum += down_port(sent.to, route).latency;
    return sum;
  }
  /// Seconds for a byte on the slowest link of a minimal route.
  [[nodiscard]] double time_of_byte(Route route) const { return 1 / routes_.kind(route).bandwidth; }
  /// The links of a path between its two ports, in stretches: the two halves of a route, and those
  /// of a second route if the path is a detour through the switch of another host.
  using InnerLinks = std::array<std::span<const topologies::LinkIndex>, 4>;
  /// The path of a message.
  struct Path {
    InnerLinks inner;
    double extra_latency = 0;  ///< seconds in addition to the latency of the minimal route
    /// The links shared with other messages.
    boost::container::static_vector<topologies::LinkIndex, FairLinks::kMostLinks> shared = {};
  };
  /// The path on the minimal route. Throws InputError when it has too many shared links.
  [[nodiscard]] Path minimal_path(Rank from, Rank to, Route route) const {
    if (settings_.representatives > 0) return represented_path(from, to, route);
    Path path{.inner = minimal(route)};
    add_shared(from, to, route, path);
    return path;
  }
  /// Whether messages take other paths than that.
  [[nodiscard]] bool adapts() const { return settings_.routing != LinkRouting::minimal; }
  /// Chooses the path of a message. Adaptive routing estimates the backlogs of the links from
  /// `links`. Throws as minimal_path() does.
  [[nodiscard]] Path path(const Departure<Route>& message, FairLinks& links) const;
  /// Calls `visit` for each link of a path, in order.
  template <class Visit>
  void for_each_link(Rank from, Rank to, Route route, const InnerLinks& inner,
                     const Visit& visit) const {
    if (route.up != Route::kNoPort) visit(up_port(from, route).link);
    for (const auto& stretch : inner) {
      for (const topologies::LinkIndex link : stretch) visit(link);
    }
    if (route.down != Route::kNoPort) visit(down_port(to, route).link);
  }
  [[nodiscard]] InnerLinks minimal(Route route) const {
    const auto halves = routes_.inner_links(route);
    return {halves[0], halves[1]};
  }

  /// The demand of a message on its links, in bytes, including the message gap.
  [[nodiscard]] double demand(Route route, Words words) const {
    return 4 * static_cast<double>(words.value()) + gap_ * finite(slowest(route));
  }
  /// Seconds for which a message occupies its route if it shares no link.
  [[nodiscard]] double uncontended(Route route, Words words) const {
    return gap_ + 4 / slowest(route) * static_cast<double>(words.value());
  }
  /// Seconds for which a message occupies its sender's port if it shares no link.
  [[nodiscard]] double send_occupancy(Rank from, Route route, Words words) const {
    return route.up == Route::kNoPort ? uncontended(route, words)
                                      : occupancy(route, up_port(from, route).link, words);
  }

  [[nodiscard]] const ReducingSwitches& switches() const { return platform_.switches(); }
  /// The tree of switches of a group of ranks. Its root is in the middle of the longest route of
  /// the first member, and the path of the others to it is the first half of their route to one of
  /// its ends. Throws SimulationError where ranks that switches of this level do not connect are in
  /// the group.
  [[nodiscard]] SwitchTree switch_tree(const Members& members, ReducingLevel level) const;
  [[nodiscard]] double switch_demand(const SwitchTree& tree, const ReducingSwitch& of,
                                     Words words) const {
    const double slower = std::max(1.0, tree.bandwidth / of.bandwidth);
    return 4 * slower * static_cast<double>(words.value()) + gap_ * finite(tree.bandwidth);
  }
  [[nodiscard]] double alone_in_switches(const SwitchTree& tree, const ReducingSwitch& of,
                                         Words words) const {
    return gap_ + 4 / std::min(tree.bandwidth, of.bandwidth) * static_cast<double>(words.value());
  }

  /// Whether a link is a port: the first or last link of one rank and of no other.
  [[nodiscard]] bool is_port(topologies::LinkIndex link) const { return ports_[link]; }

 private:
  struct Port {
    topologies::LinkIndex link = 0;
    double latency = 0;
  };
  /// Where a rank is, with the port that most of its routes take, or all: what a message needs of
  /// its two ends is in one cache line each.
  struct alignas(64) End {
    topologies::SiteIndex site = 0;
    topologies::CompactRoutes::Site routed_by = {};
    Port up = {};    ///< port 0
    Port down = {};  ///< likewise
  };
  static_assert(sizeof(End) == 64);

  /// The message that a rank of the first R sends, among all messages for which one of few ranks stands.
  [[nodiscard]] Ends sent_by_first(Rank from, Rank to) const {
    const int first = from.value() % settings_.representatives;
    return {Rank(first), moved(to, first - from.value())};
  }
  /// The one that such a rank receives.
  [[nodiscard]] Ends received_by_first(Rank from, Rank to) const {
    const int first = to.value() % settings_.representatives;
    return {moved(from, first - to.value()), Rank(first)};
  }
  [[nodiscard]] Rank moved(Rank rank, int by) const {
    const int ranks = static_cast<int>(ranks_);
    return Rank((rank.value() + by + ranks) % ranks);
  }
  [[nodiscard]] Path represented_path(Rank from, Rank to, Route route) const;
  /// The number of links of a middle up to and with its longest cable: the link in the middle among all
  /// of the greatest latency.
  [[nodiscard]] std::size_t up_to_cable(const InnerLinks& inner) const;

  [[nodiscard]] const End& end(Rank rank) const {
    return ends_[static_cast<std::size_t>(rank.value())];
  }
  [[nodiscard]] topologies::SiteIndex site(Rank rank) const { return end(rank).site; }
  [[nodiscard]] Port port(topologies::LinkIndex link) const { return {link, latencies_[link]}; }
  /// The port of its sender that a route takes, which takes one.
  [[nodiscard]] Port up_port(Rank from, Route route) const {
    return route.up == 0 ? end(from).up : port(routes_.up_ports(site(from))[route.up]);
  }
  /// The same of its receiver.
  [[nodiscard]] Port down_port(Rank to, Route route) const {
    return route.down == 0 ? end(to).down : port(routes_.down_ports(site(to))[route.down]);
  }
  void check_members(const Members& members, ReducingLevel level) const;
  [[nodiscard]] const topologies::PlatformHost& host_of(Rank rank) const {
    return platform_.hosts()[routes_.host_of(site(rank))];
  }
  [[nodiscard]] double slowest(Route route) const {
    return std::min(routes_.kind(route).bandwidth, process_bandwidth_);
  }
  [[nodiscard]] bool limits_processes() const { return std::isfinite(process_bandwidth_); }
  /// Seconds for which a message occupies a link if it does not share it.
  [[nodiscard]] double occupancy(Route route, topologies::LinkIndex link, Words words) const {
    const double bandwidth = bandwidths_[link];
    return gap_ * (slowest(route) / bandwidth) + 4 / bandwidth * static_cast<double>(words.value());
  }
  [[nodiscard]] static double finite(double bandwidth) {
    return bandwidth < 1e300 ? bandwidth : 0;  // a route without links is infinitely fast
  }
  void find_ends(std::size_t ranks);
  void find_ports(std::size_t ranks);
  void find_lookahead();
  void add_shared(Rank from, Rank to, Route route, Path& path) const;
  [[nodiscard]] InnerLinks choose_inner_links(const Departure<Route>& message,
                                              FairLinks& links) const;
  /// Stores in `inner` the links from site `from` to site `to` through the switch of site `over`.
  /// Returns false if a message on `route` cannot take this detour.
  bool detour(topologies::SiteIndex from, topologies::SiteIndex over, topologies::SiteIndex to,
              Route route, InnerLinks& inner) const;

  const topologies::Platform& platform_;
  const topologies::CompactRoutes& routes_;
  const LinksSettings& settings_;
  bool has_table_;  ///< the routes of all pairs are in a table
  double gap_;
  std::size_t ranks_;
  std::vector<End> ends_;           ///< by rank
  double process_bandwidth_;        ///< bytes per second; infinite if it is not limited
  std::vector<double> bandwidths_;  ///< the members from here to ports_ are indexed by link
  std::vector<double> latencies_;
  std::vector<bool> fat_pipes_;
  bool all_shared_ = false;  ///< no link is a fat pipe, and processes have no limit of their own
  std::vector<bool> ports_;
  double lookahead_ = 0;
  std::vector<std::vector<topologies::SiteIndex>> behind_;  ///< sites by switch; only for ecmp
};

}  // namespace thinwire::networks
