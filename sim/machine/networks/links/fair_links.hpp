// Links that messages share fairly: the flows of network links.
//
// A link is a processor-sharing server: the flows that it still has to serve have equal shares of
// its bandwidth. A flow is on all its links at once, each serves all of its
// bytes, and it is through when the last of them has. So each link works at its full bandwidth as
// long as it has anything to do, and a flow that waits for another link leaves this one to the
// others. With one bottleneck a route, that is what max-min sharing gives.
//
// A link's own time is the bytes that it has served to each flow (virtual time, as in fair
// queueing): a flow is through at its start's plus its bytes, whatever comes and goes. Only the
// link that will keep a flow longest has events; all others catch up when they are touched.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// A flow, as the caller counts them: small numbers, used again.
using FlowIndex = std::uint32_t;

/// The links, and the flows on them.
class FairLinks {
 public:
  /// The most links of a flow.
  static constexpr std::size_t kMostLinks = 20;

  /// `bandwidths`, by link, are in bytes a second. Events of link i come from `events` as i.
  FairLinks(std::span<const double> bandwidths, EventWindow& events);

  /// Where to put the links of a flow that is about to begin.
  [[nodiscard]] std::span<topologies::LinkIndex, kMostLinks> links_of(FlowIndex flow) {
    if (flow >= flows_.size()) flows_.resize(flow + 1);
    return flows_[flow].at;
  }
  /// A flow of `bytes` begins at `now` on the first `links` that were put there: one or more.
  void begin(double now, FlowIndex index, std::size_t links, double bytes);
  /// An event of a link.
  void happens(double now, topologies::LinkIndex at);
  /// What begin() touches is fetched ahead.
  void prefetch(topologies::LinkIndex link) const { prefetch_line(&links_[link]); }
  void prefetch_flow(FlowIndex flow) const { prefetch_line(flows_.data() + flow); }
  /// Flows that are through since this was emptied: now, that is.
  std::vector<FlowIndex>& through() { return through_; }

  /// Seconds that a link would serve a new flow of `bytes` if all stayed as it is. To be followed
  /// by a begin() at the same time.
  [[nodiscard]] double estimate(double now, topologies::LinkIndex link, double bytes);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// What a link still has to serve of a flow.
  struct Share {
    double end = 0;  ///< in the link's own time
    FlowIndex flow = 0;
    std::uint16_t place = 0;  ///< which of the flow's links this is
    std::uint16_t alone = 0;  ///< 1: no other flow has met it here, and it is not watched
  };
  /// In a cache line of its own, with the two shares that it will be through with first: most links
  /// have no more.
  struct alignas(64) Link {
    double seconds_per_byte;
    double served = 0;          ///< its own time, in bytes
    double updated = 0;         ///< when that was so, in seconds
    std::uint32_t flows = 0;    ///< that it still has to serve
    std::uint32_t watched = 0;  ///< flows that it is the last link of, as far as is known
    std::array<Share, 2> first = {};
  };
  static_assert(sizeof(Link) == 64);
  /// All but the first two shares of a link, in order.
  struct Later {
    std::vector<Share> shares = {};
    std::size_t gone = 0;  ///< in front, to the first two
  };
  struct alignas(64) Flow {
    std::uint32_t left = 0;      ///< bit of each place that is not yet through, but for
    std::uint32_t alone = 0;     ///< those where it has met no other flow:
    double alone_until = 0;      ///< they are through by then
    std::uint32_t watching = 0;  ///< place of the link that has events for it
    std::array<topologies::LinkIndex, kMostLinks> at = {};
  };

  void catch_up(topologies::LinkIndex at, double now);
  void serve(topologies::LinkIndex at, double now);
  void push(topologies::LinkIndex at, Share share);
  void pop(topologies::LinkIndex at);
  void meet(Share& share);
  void schedule(topologies::LinkIndex at);
  void settle(double now);

  EventWindow& events_;
  std::vector<Link> links_;
  std::vector<Later> later_;       ///< by link
  std::vector<double> scheduled_;  ///< by link: its event, or kNever
  std::vector<Flow> flows_;
  std::vector<FlowIndex> reached_;  ///< whose watched link is through with them
  std::vector<FlowIndex> through_;
};

}  // namespace thinwire::networks
