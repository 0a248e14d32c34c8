// The links of a platform as the ranks of one run use them: which way a message takes, which of its
// links are ports, and what it counts as there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/links/fair_links.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// Ways, ports and lengths of messages on the links of a platform.
class Fabric {
 public:
  /// The first `ranks` of the routes' hosts are those of the ranks. All must outlive it.
  Fabric(const topologies::Platform& platform, const topologies::CompactRoutes& routes,
         std::size_t ranks, const LinksSettings& settings);

  [[nodiscard]] topologies::Way way(Rank from, Rank to) const {
    return routes_.way(site(from), site(to));
  }
  /// Send ports of a rank: at least one.
  [[nodiscard]] std::size_t ports(Rank rank) const {
    return std::max<std::size_t>(1, routes_.up_ports(site(rank)).size());
  }
  /// By which of them a message leaves.
  [[nodiscard]] static std::uint32_t port(topologies::Way way) {
    return way.up == topologies::Way::kNoPort ? 0 : way.up;
  }

  /// What way() reads.
  void prefetch_way(Rank from, Rank to) const { routes_.prefetch(site(from), site(to)); }
  /// What path() reads.
  void prefetch_path(topologies::Way way) const { routes_.prefetch_middle(way); }
  /// Calls `visit` for all links of a minimal route, in order.
  template <class Visit>
  void follow(Rank from, Rank to, topologies::Way way, const Visit& visit) const {
    follow(from, to, way, routes_.middle(way), visit);
  }
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
  /// A message that departs at `now`; `number` is another one for each.
  struct Departing {
    Rank from;
    Rank to;
    topologies::Way way;
    Words words;
    double now;
    std::uint64_t number;
  };
  /// What a message takes on its way.
  struct Path {
    std::size_t shared;  ///< links that it shares with others; none where ports are serial
    double detour;       ///< seconds, of all links beyond a minimal route's
  };
  /// Puts the links that a message shares with others into `shared`. Throws InputError where they
  /// are too many.
  [[nodiscard]] Path path(const Departing& message, FairLinks& links,
                          std::span<topologies::LinkIndex, FairLinks::kMostLinks> shared);
  /// All links of the path that was asked for last, ports too.
  [[nodiscard]] std::span<const topologies::LinkIndex> whole_path() const { return whole_; }

  /// What a message counts as, in bytes: the gap comes on top.
  [[nodiscard]] double bytes(topologies::Way way, Words words) const {
    return 4 * static_cast<double>(words.value()) + gap_ * finite(slowest(way));
  }
  /// Seconds for which it would keep all of its route busy, alone.
  [[nodiscard]] double alone(topologies::Way way, Words words) const {
    return gap_ + 4 / slowest(way) * static_cast<double>(words.value());
  }
  /// Seconds for which its sender's port is busy.
  [[nodiscard]] double send_occupancy(Rank from, topologies::Way way, Words words) const {
    return way.up == topologies::Way::kNoPort
               ? alone(way, words)
               : occupancy(way, routes_.up_ports(site(from))[way.up], words);
  }
  /// A serial port of the receiver takes in a message that could begin at `head`: says when it
  /// does, and is busy from then on for as long as the message takes there.
  [[nodiscard]] double take_in(Rank to, topologies::Way way, Words words, double head);

  /// Whether a link is a port of one rank alone.
  [[nodiscard]] bool is_port(topologies::LinkIndex link) const { return links_[link].port; }

 private:
  struct Link {
    double bandwidth;
    double per_word;    ///< seconds
    double free = 0;    ///< of a receiver's port: from when on it can take in the next message
    bool port = false;  ///< it is the first or last link of one rank, and of nobody else
  };

  [[nodiscard]] topologies::SiteIndex site(Rank rank) const {
    return routes_.site_of(static_cast<std::size_t>(rank.value()));
  }
  [[nodiscard]] double slowest(topologies::Way way) const { return routes_.kind(way).bandwidth; }
  [[nodiscard]] static double finite(double bandwidth) {
    return bandwidth < 1e300 ? bandwidth : 0;  // of no link at all
  }
  [[nodiscard]] double occupancy(topologies::Way way, topologies::LinkIndex link,
                                 Words words) const {
    return gap_ * (slowest(way) / links_[link].bandwidth) +
           links_[link].per_word * static_cast<double>(words.value());
  }
  void find_ports(std::size_t ranks);
  void find_lookahead();
  /// Calls `take` for each link of a way whose links between the ports are `middle`.
  template <class Take>
  void follow(Rank from, Rank to, topologies::Way way,
              std::span<const topologies::LinkIndex> middle, const Take& take) const {
    if (way.up != topologies::Way::kNoPort) take(routes_.up_ports(site(from))[way.up]);
    for (const topologies::LinkIndex link : middle) take(link);
    if (way.down != topologies::Way::kNoPort) take(routes_.down_ports(site(to))[way.down]);
  }
  /// middle_ becomes the links of the message between its ports.
  void choose_middle(const Departing& message, FairLinks& links);
  /// `links` become those from one site to another by way of the switch of a third one; false where
  /// that is no way for a message that goes `way`.
  bool go_over(topologies::SiteIndex from, topologies::SiteIndex over, topologies::SiteIndex to,
               topologies::Way way, std::vector<topologies::LinkIndex>& links) const;
  /// What a way has to do: the time of the message at its slowest link, as shared now, a link.
  static double burden(std::span<const topologies::LinkIndex> middle, double bytes, double now,
                       FairLinks& links);

  const topologies::Platform& platform_;
  const topologies::CompactRoutes& routes_;
  const LinksSettings& settings_;
  double gap_;
  std::vector<Link> links_;
  std::vector<double> latencies_;  ///< by link
  std::vector<bool> fat_pipes_;    ///< by link, apart: all that most paths read of it
  bool serial_ = false;
  double lookahead_ = 0;
  std::vector<std::vector<topologies::SiteIndex>> behind_;  ///< sites by switch; for ecmp
  std::vector<topologies::LinkIndex> middle_;
  std::vector<topologies::LinkIndex> candidate_;
  std::vector<topologies::LinkIndex> whole_;
};

}  // namespace thinwire::networks
