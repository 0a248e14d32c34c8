// The messages under way on the links of a fabric, which all parts of the loop
// (shared_links_loop.hpp) share.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "sim/machine/networks/common/fair_links.hpp"
#include "sim/machine/networks/common/host.hpp"
#include "sim/machine/networks/common/transfer.hpp"

namespace thinwire::networks {

/// The completion, at `time` in seconds, of a request that a strand may wait for.
struct Completion {
  Completion(Rank of, Strand on, SlotIndex request, double at)
      : rank(of), strand(on), slot(request), time(at) {}
  Rank rank;
  Strand strand;
  SlotIndex slot;
  double time;
};

/// The transfers, their flows, the events to come, and the requests that are complete, on the links
/// of a `Fabric`, which has these members (times are in seconds):
///   Route, Path                      the route between two ranks; the links that one message takes
///   Recorder                         is told when messages depart and are complete
///   lookahead()                      at most the smallest latency of a route
///   route(from, to), latency(from, to, route)
///   prefetch_end(rank), prefetch_route(from, to, FairLinks&), prefetch_path(route)   in this order
///   minimal_path(from, to, route)    a Path; `shared` lists the links shared with other messages
///   kOnlyPorts                       whether the ports of the ranks are all that messages share
///   kHasPlaces                       whether the ranks have places on a platform
///   kMayAdapt, adapts()              whether messages may take other paths; whether they do
///   path(Departure, FairLinks&)      the Path of a message that enters its links, if they may
///   demand(route, words)             service that the message needs from each of these links, in
///                                    the unit of their bandwidths times seconds
///   uncontended(route, words)        time of the message beyond the latency, if it shares no link
///   send_occupancy(from, route, words)  time until the message has left, if it shares no link
///   switches()                       what its switches sum
///   switch_tree(members, level)      the links between the members and their switches
///   switch_demand(tree, of, words)   as demand(), for a flow through switches
///   alone_in_switches(tree, of, words)  as uncontended(), likewise
template <class Fabric>
struct UnderWay {
  using Transfer = networks::Transfer<typename Fabric::Route>;

  /// `bandwidths`, by link, are those available to the ranks. `on` must outlive this.
  UnderWay(int ranks, const Fabric& on, std::span<const double> bandwidths, const HostCosts& costs)
      : size(ranks),
        fabric(on),
        host(costs),
        first_transfer(static_cast<std::uint32_t>(bandwidths.size())),
        counts(static_cast<std::size_t>(ranks)),
        events(EventOrder(transfers.numbers(), first_transfer)),
        links(bandwidths, events) {}
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() = default;

  /// Fills the transfer of a message that is posted. Returns whether it is eager.
  bool fill(TransferIndex index, const Posting& posting, Words words, SlotIndex send,
            SlotIndex receive) {
    const bool eager = host.is_eager(words);
    // Member by member: a copy of a whole one would wait for its parts to be stored.
    Transfer& transfer = transfers[index];
    transfer.from = posting.from;
    transfer.to = posting.to;
    transfer.strand = posting.strand;
    transfer.eager = eager;
    transfer.kind = TransferKind::message;
    transfer.words = words;
    transfer.send = send;
    transfer.receive = receive;
    transfer.posted = posting.ready;
    if (posting.ends != nullptr) {
      have_ends = true;
      transfers.rare(index).ends = *posting.ends;
    }
    count(index);
    return eager;
  }
  /// The ranks between which a transfer goes.
  [[nodiscard]] Ends ends_of(TransferIndex index) {
    if (have_ends) return transfers.rare(index).ends;
    return {.from = transfers[index].from, .to = transfers[index].to};
  }
  /// A message takes a path.
  void take(TransferIndex index, const typename Fabric::Path& path) {
    links.set_links(index, {path.shared.data(), path.shared.size()});
    if (path.extra_latency == 0) return;
    transfers[index].kind = TransferKind::detour;
    transfers.rare(index).extra_latency = path.extra_latency;
  }
  /// When a message that has departed arrives, if it shares no link.
  [[nodiscard]] double end_alone(const Transfer& transfer) const {
    return transfer.departed + transfer.latency +
           fabric.uncontended(transfer.route, transfer.words);
  }
  /// Gives a transfer its sequence number among its rank's transfers.
  void count(TransferIndex index) {
    transfers.number(index) = counts[static_cast<std::size_t>(transfers[index].from.value())]++;
  }
  /// What identifies a message in a run: its rank, and its sequence number there.
  [[nodiscard]] std::uint64_t number_of(TransferIndex index) const {
    const auto from = static_cast<std::uint64_t>(transfers[index].from.value());
    return from << 32U | transfers.numbers()[index];
  }
  /// Has a transfer, which has been counted, enter its links at `time`.
  void enter_at(double time, TransferIndex index) {
    events.push({.time = time,
                 .who = first_transfer + index,
                 .rank = static_cast<std::uint32_t>(transfers[index].from.value()) + 1});
  }
  /// Has the loop ring a strand at `time`, after what ranks do then.
  void ring_at(double time, std::size_t strand) {
    events.push({.time = time,
                 .who = kAlarm | static_cast<std::uint32_t>(strand),
                 .rank = Event::kAfterRanks});
  }
  /// Completes the send of a message at `time`.
  void complete_send(Transfer& transfer, double time) {
    completions.emplace_back(transfer.from, transfer.strand, std::exchange(transfer.send, kNoSlot),
                             time);
  }
  /// Completes a message: its send at `sent`, unless that is complete, and its receive at `received`.
  void complete(TransferIndex index, double sent, double received) {
    Transfer& transfer = transfers[index];
    if (transfer.send != kNoSlot) complete_send(transfer, sent);
    completions.emplace_back(transfer.to, transfer.strand, transfer.receive, received);
    transfers.release(index);
  }

  /// A message that has been delivered, as the timeline has it.
  [[nodiscard]] MessageTimes shown(const Transfer& transfer, Tag tag, double delivered) const {
    const double left =
        transfer.departed + fabric.send_occupancy(transfer.from, transfer.route, transfer.words);
    return {.from = transfer.from,
            .to = transfer.to,
            .strand = transfer.strand,
            .tag = tag,
            .words = transfer.words,
            .posted = Seconds(transfer.posted),
            .send_begin = Seconds(transfer.departed),
            .send_end = Seconds(transfer.eager ? left : delivered),
            .receive_begin = Seconds(transfer.departed + transfer.latency),
            .receive_end = Seconds(delivered)};
  }

  const int size;
  const Fabric& fabric;
  const HostCosts host;
  /// An event is of a link, of this plus a transfer that enters its links, or of kAlarm and a
  /// strand.
  const std::uint32_t first_transfer;
  static constexpr std::uint32_t kAlarm = std::uint32_t{1} << 31U;
  Transfers<typename Fabric::Route> transfers;
  std::vector<std::uint32_t> counts;  ///< of transfers so far, by rank
  EventWindow events;
  FairLinks links;
  std::vector<Completion> completions;
  bool have_ends = false;  ///< whether transfers have ends that are not their ranks
  double now = 0;          ///< the time of the last event
};

}  // namespace thinwire::networks
