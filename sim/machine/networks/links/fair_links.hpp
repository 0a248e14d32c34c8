// Links that messages share fairly: the flows of network links.
//
// A link is a processor-sharing server: the flows that it still has to serve have equal shares of
// its bandwidth. A flow is on all its links at once, each serves all of its bytes, and the flow is
// complete when the last of them has. So each link works at its full bandwidth as long as it has
// anything to do, and a flow that waits for another link leaves this one to the others. With one
// bottleneck a route, that is what max-min sharing gives.
//
// The virtual time of a link is the bytes that it has served to each flow (as in fair queueing): a
// flow finishes at the virtual time of its arrival plus its bytes, whatever comes and goes. Only a
// flow's bottleneck, the link that will serve it longest, has events for it; all other links are
// brought up to date when they are touched.
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

  /// A flow of `bytes` begins at `now` on `links`, of which there are 1 to kMostLinks.
  void begin(double now, FlowIndex index, std::span<const topologies::LinkIndex> links,
             double bytes);
  /// Handles an event of a link.
  void handle_event(double now, topologies::LinkIndex at);
  /// The flows that have completed at `now`, to be asked for after each event: each is told of
  /// once. The span is valid until the next call.
  [[nodiscard]] std::span<const FlowIndex> completed(double now) {
    completed_.clear();
    if (!served_.empty()) complete_flows(now);
    return completed_;
  }
  /// What begin() touches is fetched ahead.
  void prefetch(topologies::LinkIndex link) const { prefetch_line(&links_[link]); }
  void prefetch_flow(FlowIndex flow) const { prefetch_line(flows_.data() + flow); }

  /// Seconds for which a link would serve a new flow of `bytes` if all stayed as it is.
  [[nodiscard]] double estimate(double now, topologies::LinkIndex link, double bytes);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// What a link still has to serve of a flow.
  struct Share {
    double finish = 0;  ///< in the link's virtual time
    FlowIndex flow = 0;
    std::uint16_t position = 0;   ///< of the link among those of the flow
    std::uint16_t untracked = 0;  ///< 1: the flow does not ask this share when it has finished
  };
  /// The first two shares to finish are in the link's own cache line: most links have no more.
  struct alignas(64) Link {
    double seconds_per_byte;
    double virtual_time = 0;          ///< in bytes
    double updated = 0;               ///< when that was so, in seconds
    std::uint32_t flows = 0;          ///< that it still has to serve
    std::uint32_t bottleneck_of = 0;  ///< how many of them have it as their bottleneck
    std::array<Share, 2> first = {};
  };
  static_assert(sizeof(Link) == 64);
  /// All but the first two shares of a link, in the order in which they finish.
  struct Later {
    std::vector<Share> shares = {};
    std::size_t gone = 0;  ///< how many at the front have moved to the first two
  };
  /// The masks have a bit for each position among the flow's links. A link that serves no other
  /// flow is done with this one by a time that is known at the start. Its share is untracked: the
  /// link need not be brought up to date to learn that, unless another flow arrives there.
  struct alignas(64) Flow {
    std::uint32_t tracked = 0;     ///< mask of the tracked shares that have not finished
    std::uint32_t untracked = 0;   ///< mask of the untracked shares
    double untracked_until = 0;    ///< seconds: all untracked shares have finished by then
    std::uint32_t bottleneck = 0;  ///< its position
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
  std::vector<FlowIndex> served_;  ///< by their bottlenecks; other links may still have to
  std::vector<FlowIndex> completed_;
};

}  // namespace thinwire::networks
