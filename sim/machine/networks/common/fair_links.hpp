// Links that messages share fairly: the fluid model of the network `links`.
//
// A link is a processor-sharing server: the flows that it still has to serve get equal shares of
// its bandwidth. A flow is on all its links at once, each link serves all of its bytes, and the
// flow is complete when its last link has served them. Each link is therefore work-conserving: it
// runs at its full bandwidth while it has any backlog. When it has served all bytes of a flow, the
// other flows get the share of this flow, even if the flow still waits for another link. If each
// route has one bottleneck, this is equal to max-min sharing.
//
// The virtual time of a link is the number of bytes that it has served to each flow (as in fair
// queueing). A flow finishes at the virtual time at which it arrives plus its bytes, whichever
// other flows arrive or leave. The bottleneck of a flow is the link that will serve it longest.
// Only this link has events for the flow; the other links are updated lazily.
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

/// The index of a flow, chosen by the caller: small and reused.
using FlowIndex = std::uint32_t;

/// The links with their flows.
class FairLinks {
 public:
  /// The largest number of links of a flow.
  static constexpr std::size_t kMostLinks = 20;

  /// `bandwidths`, by link, are in bytes per second. Events of link i have `who` = i in `events`.
  FairLinks(std::span<const double> bandwidths, EventWindow& events);

  /// Begins a flow of `bytes` at `now` on `links`, of which there are 1 to kMostLinks.
  void begin(double now, FlowIndex index, std::span<const topologies::LinkIndex> links,
             double bytes);
  /// Handles an event of a link.
  void handle_event(double now, topologies::LinkIndex at);
  /// The flows that have completed at `now`; to be called after each event. Each flow is reported
  /// once. The span is valid until the next call.
  [[nodiscard]] std::span<const FlowIndex> completed(double now) {
    completed_.clear();
    if (!served_.empty()) complete_flows(now);
    return completed_;
  }
  /// Prefetches what begin() reads.
  void prefetch(topologies::LinkIndex link) const {
    prefetch_line(&links_[link]);
    prefetch_line(&later_[link]);
    prefetch_line(&scheduled_[link]);
  }
  /// Prefetches the shares of a link beyond its first two. To be called some time after prefetch(),
  /// whose data it reads.
  void prefetch_later(topologies::LinkIndex link) const {
    const Later& later = later_[link];
    prefetch_line(later.shares.data() + later.gone);
    prefetch_line(later.shares.data() + later.shares.size());
  }
  /// The flow that a link will finish first, or an arbitrary flow if it serves none. Used only for
  /// prefetching.
  [[nodiscard]] FlowIndex first_of(topologies::LinkIndex link) const {
    return links_[link].first[0].flow;
  }
  void prefetch_flow(FlowIndex flow) const { prefetch_line(flows_.data() + flow); }

  /// Seconds that a link would take to serve a new flow of `bytes` if its load stayed the same.
  [[nodiscard]] double estimate(double now, topologies::LinkIndex link, double bytes);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The part of a flow that a link still has to serve.
  struct Share {
    double finish = 0;  ///< in the link's virtual time
    FlowIndex flow = 0;
    std::uint16_t position = 0;   ///< index of the link in the flow's list
    std::uint16_t untracked = 0;  ///< 1: untracked (see Flow)
  };
  /// The two shares that finish first are in the link's own cache line: most links have no others.
  struct alignas(64) Link {
    double seconds_per_byte;
    double virtual_time = 0;          ///< in bytes
    double updated = 0;               ///< the time of virtual_time, in seconds
    std::uint32_t flows = 0;          ///< number of flows still to be served
    std::uint32_t bottleneck_of = 0;  ///< number of flows whose bottleneck this is
    std::array<Share, 2> first = {};
  };
  static_assert(sizeof(Link) == 64);
  /// All shares of a link but the first two, in the order of their finish.
  struct Later {
    std::vector<Share> shares = {};
    std::size_t gone = 0;  ///< number of shares at the front that have moved to Link::first
  };
  /// The masks have one bit per position in the flow's list of links. If a link serves only this
  /// flow, the time at which it finishes is known when the flow begins. Such a share is untracked:
  /// the link need not be updated to find out that the share has finished, as long as no other flow
  /// arrives at the link.
  struct alignas(64) Flow {
    std::uint32_t tracked = 0;     ///< mask of the tracked shares that have not finished
    std::uint32_t untracked = 0;   ///< mask of the untracked shares
    double untracked_until = 0;    ///< seconds: the finish of the last untracked share
    std::uint32_t bottleneck = 0;  ///< position of the bottleneck in `links`
    std::array<topologies::LinkIndex, kMostLinks> links = {};
  };

  void update(topologies::LinkIndex at, double now);
  void serve(topologies::LinkIndex at, double now);
  void push(topologies::LinkIndex at, Share share);
  void pop(topologies::LinkIndex at);
  void track(Share& share);
  void schedule(topologies::LinkIndex at);
  void complete_flows(double now);

  EventWindow& events_;
  std::vector<Link> links_;
  std::vector<Later> later_;       ///< by link
  std::vector<double> scheduled_;  ///< by link: the time of its event, or kNever
  std::vector<Flow> flows_;
  std::vector<FlowIndex> served_;  ///< flows that their bottleneck has served
  std::vector<FlowIndex> completed_;
};

}  // namespace thinwire::networks
