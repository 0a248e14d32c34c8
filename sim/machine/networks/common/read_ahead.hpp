// What the loop will read is prefetched some events before: with thousands of ranks out of step, the
// memory of a message is not in the cache when it departs, shares its links or is delivered.
//
// Reading ahead may prefetch, and may not decide. It changes no transfer, flow or rank, and takes no
// event out of its order, so that no length of a window and no distance moves a figure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "sim/core/base/prefetch.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/exchanges.hpp"
#include "sim/machine/networks/common/read_ahead_settings.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// A message that departs at `time`, or when its send is posted, whichever is later.
struct Departing {
  TransferIndex index;
  double time;
};

/// Takes events out of the queue before they are due, and prefetches what they, departures and
/// exchanges will read. It decides nothing: with and without it, every figure is the same.
template <class Fabric>
class ReadAhead {
 public:
  using Transfer = typename UnderWay<Fabric>::Transfer;

  ReadAhead(UnderWay<Fabric>& all, const EventLoop& loop, const ReadAheadSettings& settings)
      : all_(all), loop_(loop), settings_(settings) {
    fetching_.fill(kNothing);
  }

  /// Whether there is another event. If none of the open window is left, takes the next ones out of
  /// the queue, so that what they read is known.
  bool has_next() { return all_.events.has_next() || open_window(); }

  /// To be called before each event. Each stage prefetches what the next one, with a smaller number,
  /// reads. Nothing is new unless a known event was taken. Most events come too early, because flows
  /// have begun since they were scheduled: they read the link alone, and are dropped at the first
  /// look.
  void before_event() {
    if (std::exchange(fetched_at_, all_.events.taken()) == all_.events.taken()) return;
    if (!settings_.prefetches) return;
    const Event* event = all_.events.ahead(kFetchLinks);
    if (event != nullptr && event->who < all_.first_transfer) all_.links.prefetch(event->who);
    std::uint32_t who = kNothing;
    event = all_.events.ahead(kFetchFlows);
    if (event != nullptr && (event->who & UnderWay<Fabric>::kAlarm) == 0 &&
        (event->who >= all_.first_transfer || all_.links.serves_by(event->who, event->time))) {
      who = event->who;
    }
    fetching_[fetched_ % kFetching] = who;
    constexpr std::array<std::size_t, 3> kSince{6, 3, 0};  // events since the first look
#pragma GCC unroll 3
    for (std::size_t stage = 0; stage < kSince.size(); ++stage) {
      const std::uint32_t of = fetching_[(fetched_ - kSince[stage]) % kFetching];
      if (of == kNothing) continue;
      if (of >= all_.first_transfer) {
        fetch_entering(of - all_.first_transfer, stage);
      } else {
        fetch_served(of, stage);
      }
    }
    ++fetched_;
  }

  /// Calls three steps for each of the messages: each step in the order of the messages, and the
  /// steps of one message in their order. The first two depend on their message alone, so it does
  /// not matter how far they are ahead of the third.
  template <class FindRoute, class FindPath, class Depart>
  void in_stages(std::span<const Departing> all, const FindRoute& find_route,
                 const FindPath& find_path, const Depart& depart) const {
    const auto handle = [&]<std::size_t kStage>(const Departing& departing, Stage<kStage>) {
      const TransferIndex index = departing.index;
      const Transfer& transfer = all_.transfers[index];
      if constexpr (kStage == 0) {
        released(index);
      } else if constexpr (kStage == 1) {
        all_.fabric.prefetch_end(transfer.from);
        all_.fabric.prefetch_end(transfer.to);
      } else if constexpr (kStage == 2) {
        all_.fabric.prefetch_route(transfer.from, transfer.to, all_.links);
      } else if constexpr (kStage == 3) {
        find_route(index, departing.time);
        all_.fabric.prefetch_path(transfer.route);
        if (transfer.eager) fetch_slot(transfer.from, transfer.send);
      } else if constexpr (kStage == 4) {
        find_path(index);
        if (transfer.departed + transfer.latency <= all_.now) all_.links.prefetch_links(index);
      } else {
        depart(index);
      }
    };
    if (all.size() == 1 || !settings_.prefetches) {
      for (const Departing& departing : all) {
        handle(departing, Stage<3>{});
        handle(departing, Stage<4>{});
        handle(departing, Stage<5>{});
      }
      return;
    }
    constexpr std::size_t kAhead = 4;
    const std::size_t ahead = std::min(kAhead, all.size());
    const auto handle_if = [&](std::size_t at, auto stage) {
      if (at < all.size()) handle(all[at], stage);
    };
    for (std::size_t i = 0; i < all.size() + 5 * ahead && !all.empty(); ++i) {
      handle_if(i, Stage<0>{});
      handle_if(i - ahead, Stage<1>{});  // a huge number before its first message
      handle_if(i - 2 * ahead, Stage<2>{});
      handle_if(i - 3 * ahead, Stage<3>{});
      handle_if(i - 4 * ahead, Stage<4>{});
      handle_if(i - 5 * ahead, Stage<5>{});
    }
  }

  /// A transfer that was posted long ago will depart.
  void released(TransferIndex index) const {
    all_.transfers.prefetch(index);
    all_.links.prefetch_flow(index);
  }
  /// Links have served these flows, whose transfers may be delivered.
  void served(std::span<const FlowIndex> flows) const {
    for (const FlowIndex flow : flows) all_.transfers.prefetch(flow);
  }
  /// A message is delivered: its requests will be complete.
  void delivered(const Transfer& transfer) const {
    if (transfer.send != kNoSlot) fetch_slot(transfer.from, transfer.send);
    fetch_slot(transfer.to, transfer.receive);
  }
  /// The completion at this place will be handled.
  void before_completion(std::size_t at) const {
    constexpr std::size_t kAhead = 8;
    if (at + kAhead >= all_.completions.size()) return;
    const Completion& later = all_.completions[at + kAhead];
    fetch_slot(later.rank, later.slot);
    loop_.prefetch(later.rank, later.strand);
  }

 private:
  template <std::size_t kStage>
  using Stage = std::integral_constant<std::size_t, kStage>;

  /// Returns false if there are no events. A window may be longer than the lookahead, because its
  /// events are handled in order, together with those that are added meanwhile.
  bool open_window() {
    fetched_at_ = kNotFetched;
    EventWindow& events = all_.events;
    if (all_.fabric.lookahead() == 0) return events.open_next(settings_.next_events);
    if (!events.open(std::max(window_, all_.fabric.lookahead()))) return false;
    if (events.known() < settings_.few_events) window_ = std::max(2 * window_, 1e-12);
    if (events.known() > settings_.many_events) window_ /= 2;
    return true;
  }
  void fetch_slot(Rank rank, SlotIndex slot) const {
    if (StepSlot::is(slot)) {
      loop_.exchanges().prefetch(rank, slot);
    } else {
      loop_.slots().prefetch(slot);
    }
  }
  /// For a transfer that will enter its links: prefetches the transfer, its flow, and the links.
  void fetch_entering(TransferIndex index, std::size_t stage) const {
    if (stage == 2) {
      released(index);
    } else if (stage == 1) {
      all_.links.prefetch_links(index);
    } else {
      all_.links.prefetch_later_of_links(index);
    }
  }
  /// For a link that will have served a flow: prefetches the flow, its requests, and the strands of
  /// these.
  void fetch_served(topologies::LinkIndex link, std::size_t stage) const {
    const FlowIndex flow = all_.links.first_of(link);
    if (stage == 2) {
      all_.links.prefetch_later(link);
      released(flow);
      return;
    }
    const Transfer& transfer = all_.transfers[flow];
    const bool in_exchange = StepSlot::is(transfer.receive);
    if (stage == 1) {
      all_.links.prefetch_tracked(flow);
      delivered(transfer);
      loop_.prefetch(transfer.from, transfer.strand);
      loop_.prefetch(transfer.to, transfer.strand);
      if (!in_exchange) return;
      loop_.exchanges().prefetch(transfer.from);
      loop_.exchanges().prefetch(transfer.to);
    } else {
      all_.links.prefetch_later_of_tracked(flow);
      if (in_exchange) return fetch_steps(transfer);
      prefetch_line(loop_.slots()[transfer.receive].message.payload.body.get());
      loop_.prefetch_resumed(transfer.from, transfer.strand);
      loop_.prefetch_resumed(transfer.to, transfer.strand);
    }
  }
  /// For a message of an exchange that will be complete: prefetches what the ranks read at their
  /// next step.
  void fetch_steps(const Transfer& transfer) const {
    const Exchanges& exchanges = loop_.exchanges();
    prefetch_line(exchanges.receiving(transfer.to, StepSlot::step(transfer.receive))
                      .message.payload.body.get());
    for (const Rank rank : {transfer.from, transfer.to}) {
      const Exchanges::OfRank& own = exchanges.of(rank);
      if (own.done == own.steps) continue;
      prefetch_line(own.part);
      prefetch_line(reinterpret_cast<const char*>(own.part) + 64);
      prefetch_line(own.read_next);
      loop_.prefetch_books(rank);
      exchanges.prefetch_sending(rank, own.done);
      exchanges.prefetch_receiving(rank, own.done);
      exchanges.prefetch_receiving(rank, own.done + 1);
      if (own.posted == own.steps) continue;
      const ExchangePeers next = peers_in_step(rank, all_.size, own.posted);
      exchanges.prefetch(next.from);
      exchanges.prefetch_sending(next.from, own.posted);
      exchanges.prefetch(next.to);
      exchanges.prefetch_receiving(next.to, own.posted);
      all_.fabric.prefetch_route(rank, next.to, all_.links);
    }
  }

  UnderWay<Fabric>& all_;
  const EventLoop& loop_;
  ReadAheadSettings settings_;
  double window_ = 0;  ///< seconds
  static constexpr std::size_t kNotFetched = std::numeric_limits<std::size_t>::max();
  std::size_t fetched_at_ = kNotFetched;  ///< events.taken() when before_event() last did its work
  /// How many events before theirs links and flows are prefetched.
  static constexpr std::size_t kFetchLinks = 12;
  static constexpr std::size_t kFetchFlows = 9;
  static constexpr std::size_t kFetching = 16;
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  std::array<std::uint32_t, kFetching> fetching_;  ///< `who` of events to come
  std::size_t fetched_ = kFetching;                ///< events looked at
};

}  // namespace thinwire::networks
