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
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// The index of a flow, chosen by the caller: small and reused, and below kMostFlows.
using FlowIndex = std::uint32_t;
inline constexpr FlowIndex kMostFlows = FlowIndex{1} << 26U;

/// The links with their flows.
class FairLinks {
 public:
  /// The largest number of links of a flow.
  static constexpr std::size_t kMostLinks = 27;  // a flow has two cache lines

  /// `bandwidths`, by link, are in bytes per second. Events of link i have `who` = i in `events`.
  FairLinks(std::span<const double> bandwidths, EventWindow& events);

  /// Sets the links of a flow that has not begun, of which there are at most kMostLinks. Throws
  /// SimulationError if `index` is not below kMostFlows.
  void set_links(FlowIndex index, std::span<const topologies::LinkIndex> links);
  [[nodiscard]] bool has_links(FlowIndex index) const { return flows_[index].count > 0; }
  /// Begins a flow of `bytes` at `now` on its links, of which there is at least one.
  void begin(double now, FlowIndex index, double bytes);
  /// Handles an event of a link.
  void handle_event(double now, topologies::LinkIndex at);
  /// The flows that completed() will look at.
  [[nodiscard]] std::span<const FlowIndex> served() const { return served_; }
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
  }
  /// Prefetches the shares of a link beyond its first two. To be called some time after prefetch(),
  /// whose data it reads.
  void prefetch_later(topologies::LinkIndex link) const {
    if (links_[link].flows <= links_[link].first.size()) return;
    const Later& later = later_[link];
    prefetch_line(later.shares.data() + later.gone);
    prefetch_line(later.shares.data() + later.shares.size());
  }
  /// The flow that a link will finish first, or an arbitrary flow if it serves none. Used only for
  /// prefetching.
  [[nodiscard]] FlowIndex first_of(topologies::LinkIndex link) const {
    return links_[link].first[0].flow;
  }
  /// Whether a link will have served its first flow by `time`, if no other flow comes.
  [[nodiscard]] bool serves_by(topologies::LinkIndex at, double time) const {
    const Link& link = links_[at];
    return next_finish(link) <= time * (1 + 1e-12);
  }
  void prefetch_flow(FlowIndex flow) const {
    if (flow < flows_.size()) prefetch_line(flows_.data() + flow);  // others take long to find
  }
  /// prefetch() and prefetch_later() for all links of a flow, which have been set.
  void prefetch_links(FlowIndex flow) const {
    for (const topologies::LinkIndex link : links_of(flows_[flow])) prefetch(link);
  }
  void prefetch_later_of_links(FlowIndex flow) const {
    for (const topologies::LinkIndex link : links_of(flows_[flow])) prefetch_later(link);
  }
  /// The same for the links that are updated when a flow, which has begun, is complete.
  void prefetch_tracked(FlowIndex flow) const {
    for_each_tracked(flows_[flow], [this](topologies::LinkIndex link) { prefetch(link); });
  }
  void prefetch_later_of_tracked(FlowIndex flow) const {
    for_each_tracked(flows_[flow], [this](topologies::LinkIndex link) { prefetch_later(link); });
  }

  /// Seconds that a link would take to serve a new flow of `bytes` if its load stayed the same.
  [[nodiscard]] double estimate(double now, topologies::LinkIndex link, double bytes);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The part of a flow that a link still has to serve. Packed, so that the whole state of a link
  /// with two shares is in one cache line.
#pragma pack(push, 4)
  struct Share {
    double finish = 0;  ///< in the link's virtual time
    FlowIndex flow : 26 = 0;
    std::uint32_t position : 5 = 0;   ///< index of the link in the flow's list
    std::uint32_t untracked : 1 = 0;  ///< 1: untracked (see Flow)
  };
#pragma pack(pop)
  static_assert(sizeof(Share) == 12 && kMostLinks <= 32);
  /// The two shares that finish first are in the link's own cache line: most links have no others.
  struct alignas(64) Link {
    double seconds_per_byte;
    double virtual_time = 0;          ///< in bytes
    double updated = 0;               ///< the time of virtual_time, in seconds
    double scheduled = kNever;        ///< the time of its event
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
    std::uint16_t bottleneck = 0;  ///< position of the bottleneck in `links`
    std::uint16_t count = 0;       ///< number of `links`
    std::array<topologies::LinkIndex, kMostLinks> links = {};
  };

  void update(topologies::LinkIndex at, double now);
  void serve(topologies::LinkIndex at, double now);
  void push(topologies::LinkIndex at, Share share);
  void pop(topologies::LinkIndex at);
  void track(Share& share);
  void schedule(topologies::LinkIndex at);
  void complete_flows(double now);
  /// When a link that serves a flow will have served the first one, if no other flow comes.
  [[nodiscard]] static double next_finish(const Link& link) {
    return link.updated + (link.first[0].finish - link.virtual_time) *
                              static_cast<double>(link.flows) * link.seconds_per_byte;
  }
  [[nodiscard]] static std::span<const topologies::LinkIndex> links_of(const Flow& flow) {
    return {flow.links.data(), flow.count};
  }
  /// Calls `visit` for each link on which a flow has a tracked share that has not finished.
  template <class Visit>
  static void for_each_tracked(const Flow& flow, const Visit& visit) {
    for (std::uint32_t left = flow.tracked; left != 0; left &= left - 1) {
      visit(flow.links[static_cast<std::size_t>(std::countr_zero(left))]);
    }
  }

  EventWindow& events_;
  std::vector<Link> links_;
  std::vector<Later> later_;  ///< by link
  std::vector<Flow> flows_;
  std::vector<FlowIndex> served_;  ///< flows that their bottleneck has served
  std::vector<FlowIndex> completed_;
};

}  // namespace thinwire::networks
