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

#include "sim/networks/common/event_window.hpp"
#include "topologies/platform.hpp"

namespace thinwire {

/// The links, and the flows on them.
class FairLinks {
 public:
  /// The most links of a flow.
  static constexpr std::size_t kMostLinks = 20;

  /// `bandwidths`, by link, are in bytes a second. Events of link i come from `events` as
  /// `first_event` + i.
  FairLinks(std::span<const double> bandwidths, EventWindow& events, std::uint32_t first_event);

  /// A flow of `bytes` begins at `now` on one or more links. `name` is what through() calls it.
  void begin(double now, std::span<const LinkIndex> links, double bytes, std::uint32_t name);
  /// An event of a link.
  void happens(double now, LinkIndex at);
  // What begin() touches is fetched ahead: links first, then what they point to.
  void prefetch(LinkIndex link) const { __builtin_prefetch(&links_[link]); }
  void prefetch_waiting(LinkIndex link) const {
    __builtin_prefetch(links_[link].waiting.data() + links_[link].waiting.size());
  }
  /// Names of flows that are through since this was emptied: now, that is.
  std::vector<std::uint32_t>& through() { return through_; }

  /// Seconds that a link would serve a new flow of `bytes` if all stayed as it is. To be followed
  /// by a begin() at the same time.
  [[nodiscard]] double estimate(double now, LinkIndex link, double bytes) {
    catch_up(link, now);
    return bytes * static_cast<double>(links_[link].waiting.size() + 1) *
           links_[link].seconds_per_byte;
  }

 private:
  using FlowIndex = std::uint32_t;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// What a link still has to serve of a flow.
  struct Share {
    double end;  ///< in the link's own time
    FlowIndex flow;
    std::uint8_t place;  ///< which of the flow's links this is

    friend bool operator>(const Share& a, const Share& b) {
      return a.end != b.end ? a.end > b.end : a.flow > b.flow;
    }
  };
  struct Link {
    double seconds_per_byte;
    double served = 0;                ///< its own time, in bytes
    double updated = 0;               ///< when that was so, in seconds
    std::vector<Share> waiting = {};  ///< a heap: the first to be through is in front
  };
  /// Of a link that is the last one of some flows, as far as is known.
  struct Watch {
    double scheduled = kNever;  ///< its event
    std::uint32_t flows = 0;
  };
  struct Flow {
    std::uint32_t name = 0;
    std::uint8_t watching = 0;  ///< place of the link that has events for it
    std::uint32_t left = 0;     ///< bit of each place that is not yet through
    std::array<LinkIndex, kMostLinks> at = {};
  };

  void catch_up(LinkIndex at, double now);
  void schedule(LinkIndex at);
  void settle(double now);

  EventWindow& events_;
  std::uint32_t first_event_;
  std::vector<Link> links_;
  std::vector<Watch> watches_;  ///< by link
  std::vector<Flow> flows_;
  std::vector<FlowIndex> free_;
  std::vector<FlowIndex> reached_;  ///< whose watched link is through with them
  std::vector<std::uint32_t> through_;
};

}  // namespace thinwire
