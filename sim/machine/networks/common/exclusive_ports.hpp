// Messages that share no port. The end of such a message follows from its two posts, so it needs no
// event: the loop completes it when no strand can run, however far its ranks are then ahead of the
// events. This holds where the ports of the ranks are all that messages share, and where nothing
// enters a port before its rank has posted.
//
// A port is exclusive to a post that finds no other one open there. A second post makes it shared,
// for both and for those that follow, until none is open. So is the port of a rank with two strands
// that run.
//
// The end of a message is known if, until then, neither of its ranks can post anything. A rank cannot
// while it waits for the message, nor after its program has ended, nor while it waits for other
// messages of which one ends as late at the earliest.
//
// Where no further end is known, the messages that remain become events, for good. That comes in
// time: each strand then waits, directly or through others, for a message that is an event, so all
// that is posted later is posted no earlier than the next event.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/read_ahead.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The ports of all ranks, and the messages of which it is not yet known whether they share one.
template <class Fabric>
class ExclusivePorts {
 public:
  using Transfer = typename UnderWay<Fabric>::Transfer;

  /// All outlive it. `applies`: whether it finds any end; else all messages become events.
  ExclusivePorts(UnderWay<Fabric>& all, EventLoop& loop, bool applies)
      : all_(all), loop_(loop), applies_(Fabric::kOnlyPorts && applies) {
    if (applies_) ports_.resize(2 * static_cast<std::size_t>(all.size));
  }

  /// A strand posts a send, or a receive.
  void post_send(Rank rank, Strand strand) { post(rank, 0, strand); }
  void post_receive(Rank rank, Strand strand) { post(rank, 1, strand); }
  /// The second strand of a rank begins to run.
  void share(Rank rank) {
    if (!applies_) return;
    for (const std::size_t way : {0U, 1U}) {
      Port& port = of(rank, way);
      port.shared = port.open > 0;
    }
  }
  /// A message is complete.
  void leave(const Transfer& message) {
    if (!applies_) return;
    leave(of(message.from, 0));
    leave(of(message.to, 1));
  }
  /// Whether a rank has one strand that runs, and no message of which it is not known to be complete.
  [[nodiscard]] bool is_clear(Rank rank) {
    return applies_ && of(rank, 0).open + of(rank, 1).open == 0 && !loop_.runs_second(rank);
  }
  /// From here on all messages become events.
  void stop() { applies_ = false; }

  /// To be called when no strand can run. Of the messages in `departing`, whose sends and receives
  /// are posted, and of those that it has kept, it leaves those there that become events. It completes
  /// those whose end is known, and keeps the others, for the strands that run then may tell.
  /// `find_route(index, met)` finds the route of a message that is posted at both ends by `met`.
  template <class FindRoute>
  void take(std::vector<Departing>& departing, const FindRoute& find_route) {
    if (kept_.empty() && (!applies_ || departing.empty())) return;
    for (const Departing& begun : departing) kept_.push_back({begun, 0});
    departing.clear();
    bool found = false;
    const auto alone = [&](TransferIndex index, double met) {
      find_route(index, met);
      return all_.end_alone(all_.transfers[index]);
    };
    const auto decide = [&](Kept& kept) {
      const Transfer& message = all_.transfers[kept.begun.index];
      if (!applies_ || of(message.from, 0).shared || of(message.to, 1).shared) {
        departing.push_back(kept.begun);
        return true;
      }
      const double end = alone(kept.begun.index, kept.begun.time);
      if (!is_silent(message.from, message.send, end, alone) ||
          !is_silent(message.to, message.receive, end, alone)) {
        if (++kept.looks < kMostLooks) return false;
        departing.push_back(kept.begun);
        return true;
      }
      found = true;
      if (!std::isfinite(end)) throw_time_overflow();
      leave(message);
      all_.complete(kept.begun.index, end, end);
      return true;
    };
    std::erase_if(kept_, decide);
    if (found) return;
    for (const Kept& kept : kept_) departing.push_back(kept.begun);
    kept_.clear();
  }

 private:
  struct Port {
    std::uint32_t open = 0;  ///< posts of messages that are not complete
    bool shared = false;
  };
  struct Kept {
    Departing begun;
    int looks;
  };
  static constexpr int kMostLooks = 8;

  [[nodiscard]] Port& of(Rank rank, std::size_t way) {
    return ports_[2 * static_cast<std::size_t>(rank.value()) + way];
  }
  void post(Rank rank, std::size_t way, Strand strand) {
    if (!applies_) return;
    Port& port = of(rank, way);
    if (++port.open > 1 || strand == Strand::second || loop_.runs_second(rank)) port.shared = true;
  }
  static void leave(Port& port) {
    if (--port.open == 0) port.shared = false;
  }
  /// Whether a rank, one of whose requests has this slot, posts nothing before `end`.
  template <class Alone>
  [[nodiscard]] bool is_silent(Rank rank, SlotIndex slot, double end, const Alone& alone) const {
    if (StepSlot::is(slot)) return loop_.exchanges().of(rank).done == StepSlot::step(slot);
    const LoopRank& strand = loop_.main_strand(rank);
    if (strand.has_ended()) return true;
    if (strand.waits_for_any()) return false;
    if (loop_.slots()[slot].awaited) return true;
    return strand.resumes_after([&](SlotIndex other) { return earliest(other, alone); }) >= end;
  }
  /// The earliest time at which a request can be complete.
  template <class Alone>
  [[nodiscard]] double earliest(SlotIndex slot, const Alone& alone) const {
    const Slot& request = loop_.slots()[slot];
    if (request.transfer == kNoTransfer) return request.stamp;
    const Transfer& message = all_.transfers[request.transfer];
    return alone(request.transfer, loop_.slots()[message.receive].stamp);  // 0 if it is not posted
  }

  UnderWay<Fabric>& all_;
  EventLoop& loop_;
  bool applies_;
  std::vector<Port> ports_;  ///< of rank r for sends: 2r, for receives: 2r + 1
  std::vector<Kept> kept_;
};

}  // namespace thinwire::networks
