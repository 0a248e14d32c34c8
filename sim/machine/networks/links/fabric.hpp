// The links of a platform as its ranks use them: which way a message takes, which of its links are
// ports, and what it demands of them.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/links/fair_links.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// Routes, ports and capacities of the links of a platform: the same for all runs, and during them.
class Fabric {
 public:
  /// The first `ranks` of the routes' hosts are those of the ranks. All must outlive it.
  Fabric(const topologies::Platform& platform, const topologies::CompactRoutes& routes,
         std::size_t ranks, const LinksSettings& settings);

  [[nodiscard]] topologies::Way way(Rank from, Rank to) const {
    return routes_.way(site(from), site(to));
  }
  /// How many send ports a rank has: at least one.
  [[nodiscard]] std::size_t ports(Rank rank) const {
    return std::max<std::size_t>(1, routes_.up_ports(site(rank)).size());
  }
  /// The send port by which a message leaves.
  [[nodiscard]] static std::uint32_t port(topologies::Way way) {
    return way.up == topologies::Way::kNoPort ? 0 : way.up;
  }
  [[nodiscard]] std::size_t links() const { return bandwidths_.size(); }

  /// Fetches ahead what way() reads.
  void prefetch_way(Rank from, Rank to) const { routes_.prefetch(site(from), site(to)); }
  /// Fetches ahead what path() reads.
  void prefetch_path(topologies::Way way) const { routes_.prefetch_middle(way); }
  /// No event has an effect on another one by way of a rank within so many seconds: the smallest
  /// latency of a route, or less. 0 where ports are serial.
  [[nodiscard]] double lookahead() const { return lookahead_; }
  /// Whether ports serve one message after the other: there is no link that two ranks share. Else
  /// all links are shared, ports too.
  [[nodiscard]] bool serial() const { return serial_; }

  /// Seconds, of all links of a minimal route.
  [[nodiscard]] double latency(Rank from, Rank to, topologies::Way way) const {
    double sum = 0;
    if (way.up != topologies::Way::kNoPort) sum += latencies_[routes_.up_ports(site(from))[way.up]];
    sum += routes_.kind(way).latency;
    if (way.down != topologies::Way::kNoPort)
      sum += latencies_[routes_.down_ports(site(to))[way.down]];
    return sum;
  }
  /// A message that departs at `now`; each has a `number` of its own.
  struct Departure {
    Rank from;
    Rank to;
    topologies::Way way;
    Words words;
    double now;
    std::uint64_t number;
  };
  /// The links of a path between its ports: one stretch of links, or two by way of a switch.
  using Middle = std::array<std::span<const topologies::LinkIndex>, 2>;
  /// The path that a message takes.
  struct Path {
    Middle middle;
    double extra_latency = 0;  ///< seconds, of all links beyond those of a minimal route
    /// The links that are shared with other messages; none where ports are serial.
    boost::container::static_vector<topologies::LinkIndex, FairLinks::kMostLinks> shared = {};
  };
  /// `links` says how long adaptive routing would wait. Throws InputError where a path shares too
  /// many links.
  [[nodiscard]] Path path(const Departure& message, FairLinks& links) const;
  /// Calls `visit` for each link, in order, of a path or a minimal route.
  template <class Visit>
  void for_each_link(Rank from, Rank to, topologies::Way way, const Middle& middle,
                     const Visit& visit) const {
    if (way.up != topologies::Way::kNoPort) visit(routes_.up_ports(site(from))[way.up]);
    for (const auto& stretch : middle) {
      for (const topologies::LinkIndex link : stretch) visit(link);
    }
    if (way.down != topologies::Way::kNoPort) visit(routes_.down_ports(site(to))[way.down]);
  }
  [[nodiscard]] Middle minimal(topologies::Way way) const { return {routes_.middle(way)}; }

  /// The bytes that a message demands of its links: the gap comes on top.
  [[nodiscard]] double demand(topologies::Way way, Words words) const {
    return 4 * static_cast<double>(words.value()) + gap_ * finite(slowest(way));
  }
  /// Seconds for which a message would keep all of its route busy if there were no other.
  [[nodiscard]] double uncontended(topologies::Way way, Words words) const {
    return gap_ + 4 / slowest(way) * static_cast<double>(words.value());
  }
  /// Seconds for which a message keeps its sender's port busy.
  [[nodiscard]] double send_occupancy(Rank from, topologies::Way way, Words words) const {
    return way.up == topologies::Way::kNoPort
               ? uncontended(way, words)
               : occupancy(way, routes_.up_ports(site(from))[way.up], words);
  }
  /// Seconds for which a message keeps a link busy that serves nothing else meanwhile.
  [[nodiscard]] double occupancy(topologies::Way way, topologies::LinkIndex link,
                                 Words words) const {
    const double bandwidth = bandwidths_[link];
    return gap_ * (slowest(way) / bandwidth) + 4 / bandwidth * static_cast<double>(words.value());
  }
  /// The receiver's port of a way that has one.
  [[nodiscard]] topologies::LinkIndex receive_port(Rank to, topologies::Way way) const {
    return routes_.down_ports(site(to))[way.down];
  }

  /// Whether a link is a port: the first or last link of one rank, and of nobody else.
  [[nodiscard]] bool is_port(topologies::LinkIndex link) const { return ports_[link]; }

 private:
  [[nodiscard]] topologies::SiteIndex site(Rank rank) const {
    return routes_.site_of(static_cast<std::size_t>(rank.value()));
  }
  [[nodiscard]] double slowest(topologies::Way way) const { return routes_.kind(way).bandwidth; }
  [[nodiscard]] static double finite(double bandwidth) {
    return bandwidth < 1e300 ? bandwidth : 0;  // a route without links is infinitely fast
  }
  void find_ports(std::size_t ranks);
  void find_lookahead();
  [[nodiscard]] Middle choose_middle(const Departure& message, FairLinks& links) const;
  /// Puts the links from one site to another by way of the switch of a third one into `middle`;
  /// false where a message that goes `way` cannot go there.
  bool detour(topologies::SiteIndex from, topologies::SiteIndex over, topologies::SiteIndex to,
              topologies::Way way, Middle& middle) const;

  const topologies::Platform& platform_;
  const topologies::CompactRoutes& routes_;
  const LinksSettings& settings_;
  double gap_;
  std::vector<double> bandwidths_;  ///< by link, as all up to ports_
  std::vector<double> latencies_;
  std::vector<bool> fat_pipes_;
  std::vector<bool> ports_;
  bool serial_ = false;
  double lookahead_ = 0;
  std::vector<std::vector<topologies::SiteIndex>> behind_;  ///< sites by switch; for ecmp
};

}  // namespace thinwire::networks
