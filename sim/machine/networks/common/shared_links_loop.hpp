// The event loop of the networks whose messages share links fairly: `alphabeta`, where the links
// are the ports of the ranks, and `links`, where they are the links of a platform.
//
// A message begins when its send and its receive have both been posted (rendezvous), so that no
// link is kept busy by a message that no rank waits for. Its send is complete when the message is
// delivered. Messages of up to `eager` bytes begin when their send is posted. Their send is
// complete after the time that the message would need to leave its rank if it shared no link, or at
// once if they are `buffered`. Those that are `queued` leave one after the other. What a host adds
// to the time of a message is in host.hpp. All links of a message's route share their bandwidth
// fairly among the messages that cross them (fair_links.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "sim/machine/networks/common/fair_links.hpp"
#include "sim/machine/networks/common/host.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"
#include "sim/machine/networks/common/transfer.hpp"
#include "sim/machine/networks/common/turns.hpp"

namespace thinwire::networks {

/// A message that departs at `now`; `number` identifies it.
template <class Way>
struct Departure {
  Rank from;
  Rank to;
  Way way;
  Words words;
  double now;
  std::uint64_t number;
};

/// The loop of the links of a `Fabric`, which has these members (times are in seconds):
///   Way, Path                        the route between two ranks; the links that one message takes
///   Recorder                         is told when messages depart and are complete
///   lookahead()                      at most the smallest latency of a route
///   way(from, to), latency(from, to, way)
///   prefetch_end(rank), prefetch_way(from, to, FairLinks&), prefetch_path(way)   in this order
///   minimal_path(from, to, way)      a Path; `shared` lists the links shared with other messages
///   kHasPlaces                       whether the ranks have places on a platform
///   kMayAdapt, adapts()              whether messages may take other paths; whether they do
///   path(Departure, FairLinks&)      the Path of a message that enters its links, if they may
///   demand(way, words)               service that the message needs from each of these links, in
///                                    the unit of their bandwidths times seconds
///   uncontended(way, words)          time of the message beyond the latency, if it shares no link
///   send_occupancy(from, way, words) time until the message has left, if it shares no link
///   switches()                       what its switches sum
///   switch_tree(members, level)      the links between the members and their switches
///   switch_demand(tree, of, words)   as demand(), for a flow through switches
///   alone_in_switches(tree, of, words)  as uncontended(), likewise
template <class Fabric>
class SharedLinksLoop final : public EventLoop {
 public:
  using Recorder = typename Fabric::Recorder;
  using Transfer = networks::Transfer<typename Fabric::Way>;
  static_assert(sizeof(Transfer) == 64);

  /// `bandwidths`, by link, are those available to the ranks; `timeline` and `recorder` may be
  /// nullptr.
  SharedLinksLoop(int size, const Fabric& fabric, std::span<const double> bandwidths,
                  const HostCosts& host, Timeline* timeline, Recorder* recorder)
      : size_(size),
        fabric_(fabric),
        host_(host),
        timeline_(timeline),
        recorder_(recorder),
        links_(bandwidths, events_),
        first_transfer_(static_cast<std::uint32_t>(bandwidths.size())),
        destinations_(host.limits_destinations(size) ? size : 0, host.destinations) {
    for (int rank = 0; rank < size; ++rank) {
      ranks_.push_back(make_strand(Rank(rank), Strand::main));
    }
    fetching_.fill(kNothing);
    if (host.queued > Bytes(0)) queued_until_.resize(2 * static_cast<std::size_t>(size));
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    return timed_report();
  }

 protected:
  /// Handles the events within one lookahead, or fewer if the window of events ends before, or at one
  /// instant if the lookahead is 0. A message
  /// that a rank posts because of one of these events reaches its links no earlier than the end of
  /// this time. The ranks therefore need not run between the events, and many run together after
  /// them.
  bool advance() override {
    depart_all();
    if (!completions_.empty()) {  // eager sends: their senders continue before other events
      complete_all();
      return true;
    }
    if (!events_.has_next() && !open_window()) return false;
    const double first = events_.next_time();
    do {
      fetch_ahead();
      const Event event = events_.next();
      now_ = event.time;
      if ((event.who & kAlarm) != 0) {
        ring(event.who - kAlarm, event.time);
      } else if (event.who >= first_transfer_) {
        enter_links(event.who - first_transfer_, event.time);
      } else {
        links_.handle_event(event.time, event.who);
      }
      deliver_completed();
    } while (events_.has_next() &&
             (events_.next_time() < first + fabric_.lookahead() || events_.next_time() == first));
    complete_all();
    return true;
  }

  [[nodiscard]] double handled() const override { return now_; }
  void wake_at(double time, std::size_t strand) override {
    events_.push(time, kAlarm | static_cast<std::uint32_t>(strand));
  }
  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    return make_strand(rank, Strand::second);
  }

 private:
  /// The events of strands, in place of those of links and transfers, have this bit.
  static constexpr std::uint32_t kAlarm = std::uint32_t{1} << 31U;

  /// A message that departs at `time`, or when its send is posted, whichever is later.
  struct Departing {
    TransferIndex index;
    double time;
  };

  /// A strand of a rank.
  class LinksRank final : public TimedRank {
   public:
    using TimedRank::TimedRank;

    [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
      return send(to, tag, std::move(message), nullptr);
    }
    [[nodiscard]] Request isend_between(const Ends& ends, Rank to, Tag tag,
                                        Message message) override {
      return send(to, tag, std::move(message), Fabric::kHasPlaces ? &ends : nullptr);
    }
    [[nodiscard]] Request irecv(Rank from, Tag tag) override {
      const Request request = TimedRank::irecv(from, tag);
      Slot& slot = slots()[slot_of(request)];
      if (std::exchange(slot.held, false)) loop().release(slot.transfer, clock_);
      return request;
    }

    [[nodiscard]] Request post_in_switches(const Members& members, InSwitches part) override {
      clock_ += loop().host_.processing(part.message.words) + noise();
      books().sent(part.message.words);
      const SlotIndex slot = slots().acquire(rank(), part.tag);
      loop().post_in_switches(rank(), strand(), members, std::move(part), slot, clock_);
      return receive_request(slot);
    }

   protected:
    [[nodiscard]] bool departs_early() const override { return loop().host_.eager > Bytes(0); }
    void send_in_step(Rank to, const Exchanges::OfRank& own, Message&& message) override {
      const double ready = prepare_to_send(message.words);
      loop().post_in_exchange(rank(), to, own, std::move(message), ready);
    }
    void release_held(TransferIndex held) override { loop().release(held, clock_); }
    void take_in(Words words, double /*stamp*/) override {
      clock_ += loop().host_.processing(words);
    }
    Message finish(Request request) override {
      Message message = TimedRank::finish(request);
      if (is_receive(request)) clock_ += loop().host_.processing(message.words);
      return message;
    }

   private:
    /// `ends` is nullptr if the message goes from this rank to `to`.
    [[nodiscard]] Request send(Rank to, Tag tag, Message&& message, const Ends* ends) {
      check_peer(*this, to);
      const double ready = prepare_to_send(message.words);
      return slot_request(loop().post(rank(), to, strand(), tag, std::move(message), ready, ends));
    }
    /// Pays what a message costs its sender. Returns when it can depart.
    [[nodiscard]] double prepare_to_send(Words words) {
      clock_ += loop().host_.processing(words) + noise();
      books().sent(words);
      return clock_ + loop().host_.buffering(words);
    }
    /// The loop, by the reference that is in the rank's first cache line.
    [[nodiscard]] SharedLinksLoop& loop() const {
      return static_cast<SharedLinksLoop&>(LoopRank::loop());
    }
    /// The random delay of the next message, in seconds.
    [[nodiscard]] double noise() {
      const HostCosts& host = loop().host_;
      if (host.noise == Seconds(0)) return 0;
      const auto stream =
          2 * static_cast<std::uint64_t>(rank().value()) + (strand() == Strand::main ? 0 : 1);
      return -host.noise.value() *
             std::log1p(-to_unit(random_bits(host.seed, stream, delayed_++, kNoise)));
    }

    static constexpr std::uint64_t kNoise = 0x6e6f697365;  // apart from what else is drawn
    std::uint64_t delayed_ = 0;                            ///< messages that were delayed so far
  };

  std::unique_ptr<LoopRank> make_strand(Rank rank, Strand strand) {
    auto made = std::make_unique<LinksRank>(rank, size_, *this, strand);
    if (timeline_ != nullptr) made->follow(timeline_->track(rank, strand));
    return made;
  }

  /// Posts a message of a rank; returns the slot that completes with the send.
  SlotIndex post(Rank from, Rank to, Strand strand, Tag tag, Message&& message, double now,
                 const Ends* ends) {
    const TransferIndex index = acquire();
    const Words words = message.words;
    const SlotIndex send = slots().acquire(to, tag, false);
    slots()[send].transfer = index;
    const Match match = EventLoop::match(from, to, strand, tag, std::move(message), index);
    const bool eager = host_.is_eager(words);
    transfers_[index] = {.way = {},
                         .from = from,
                         .to = to,
                         .strand = strand,
                         .eager = eager,
                         .course = Course::minimal,
                         .words = words,
                         .send = send,
                         .receive = match.slot,
                         .posted = now,
                         .departed = 0,
                         .latency = 0};
    if (ends != nullptr) {
      have_ends_ = true;
      rare(index).ends = *ends;
    }
    if (eager) {
      start(index, now);
    } else if (match.posted) {
      start(index, slots()[match.slot].stamp);
    } else {
      slots()[match.slot].held = true;
    }
    return send;
  }

  /// Posts what a rank sends in the step of an exchange that it posts.
  void post_in_exchange(Rank from, Rank to, const Exchanges::OfRank& own, Message&& message,
                        double now) {
    const TransferIndex index = acquire();
    const bool eager = host_.is_eager(message.words);
    const Exchanges::Step at{to, own.posted, own.odd};
    transfers_[index] = {.way = {},
                         .from = from,
                         .to = to,
                         .strand = Strand::main,
                         .eager = eager,
                         .course = Course::minimal,
                         .words = message.words,
                         .send = StepSlot::of_send(own.posted, own.odd),
                         .receive = StepSlot::of_receive(own.posted, own.odd),
                         .posted = now,
                         .departed = 0,
                         .latency = 0};
    const bool posted = exchanges().has_posted(at);
    if (!posted && !eager) {
      exchanges().sending(from, at.step) = {.message = std::move(message), .transfer = index};
      return;
    }
    Exchanges::Receiving& receiving = exchanges().arriving(at);
    receiving.message = std::move(message);
    receiving.sent = true;
    start(index, eager ? now : receiving.posted);
  }

  /// Takes a rank's part of a collective in switches, which begins with the last one.
  void post_in_switches(Rank rank, Strand strand, const Members& members, InSwitches&& part,
                        SlotIndex slot, double now) {
    const ReducingLevel level = part.level;
    if (!fabric_.switches().at(level)) throw_no_reducing_switches(level);
    const SumIndex index = sums_.post(rank, strand, members, std::move(part), slot, now);
    SwitchSum& sum = sums_[index];
    if (sum.posted < members.count) return;
    sum.results = sum.function(sum.sent);
    if (members.count == 1) {
      sum.alone = sum.begins;
      end_in_switches(index, sum.begins);
      return;
    }
    const SwitchTree& tree = tree_of(sum);
    const ReducingSwitch& of = *fabric_.switches().at(level);
    const double begins = sum.begins + tree.latency + of.latency.value() * tree.levels;
    sum.alone = begins;
    for (int i = 0; i < members.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (const bool upwards : {true, false}) {
        const Words words = (upwards ? sum.sent : sum.results)[at].words;
        if (words == Words(0) || (upwards ? tree.up : tree.down)[at].empty()) continue;
        sum.alone = std::max(sum.alone, begins + fabric_.alone_in_switches(tree, of, words));
        ++sum.flows;
        const TransferIndex flow = acquire();
        transfers_[flow] = {.way = {},
                            .from = sum.member(i),
                            .to = sum.member(i),
                            .strand = strand,
                            .eager = false,
                            .course = upwards ? Course::to_switches : Course::from_switches,
                            .words = words,
                            .send = kNoSlot,
                            .receive = sum.slots[at],
                            .posted = sum.begins,
                            .departed = sum.begins,
                            .latency = begins - sum.begins};
        rare(flow).sum = index;
        links_.set_links(flow, (upwards ? tree.up : tree.down)[at]);
        events_.push(begins, first_transfer_ + flow);
      }
    }
    if (sum.flows == 0) end_in_switches(index, begins);
  }
  const SwitchTree& tree_of(const SwitchSum& sum) {
    const Members& members = sum.members;
    const auto [found, added] =
        trees_.try_emplace({sum.level, members.first, members.count, members.stride});
    if (added) found->second = fabric_.switch_tree(members, sum.level);
    return found->second;
  }
  [[nodiscard]] const SwitchTree::Links& links_of(const Transfer& flow, const SwitchSum& sum) {
    const SwitchTree& tree = tree_of(sum);
    const int member = (flow.from.value() - sum.members.first) / sum.members.stride;
    const bool upwards = flow.course == Course::to_switches;
    return (upwards ? tree.up : tree.down)[static_cast<std::size_t>(member)];
  }
  void enter_switches(TransferIndex index, double now) {
    const Transfer& flow = transfers_[index];
    const SwitchSum& sum = sums_[rare_[index].sum];
    const double demand =
        fabric_.switch_demand(tree_of(sum), *fabric_.switches().at(sum.level), flow.words);
    if (!std::isfinite(now + demand)) throw_time_overflow();
    links_.begin(now, index, demand);
  }
  /// Called when the links of a flow through switches have served it.
  void leave_switches(TransferIndex index, double now) {
    const Transfer& flow = transfers_[index];
    const SumIndex at = rare_[index].sum;
    SwitchSum& sum = sums_[at];
    if (recorder_ != nullptr) {
      recorder_->crossed(links_of(flow, sum), flow.words, flow.departed, std::max(now, sum.alone));
    }
    free_.push_back(index);
    if (--sum.flows == 0) end_in_switches(at, std::max(now, sum.alone));
  }
  void end_in_switches(SumIndex index, double time) {
    SwitchSum& sum = sums_[index];
    for (int i = 0; i < sum.members.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      slots()[sum.slots[at]].message = std::move(sum.results[at]);
      completions_.push_back({sum.member(i), sum.strand, sum.slots[at], time});
    }
    sums_.release(index);
  }

  /// Events are taken out of the queue window by window, so that the loop knows which data to
  /// prefetch. A window may be longer than the lookahead, because its events are handled in order,
  /// together with those that are added meanwhile.
  bool open_window() {
    constexpr std::size_t kFew = 64;
    constexpr std::size_t kMany = 1024;
    constexpr std::size_t kNext = 128;
    fetched_at_ = kNotFetched;
    if (fabric_.lookahead() == 0) return events_.open_next(kNext);
    if (!events_.open(std::max(window_, fabric_.lookahead()))) return false;
    if (events_.known() < kFew) window_ = std::max(2 * window_, 1e-12);
    if (events_.known() > kMany) window_ /= 2;
    return true;
  }

  /// Each stage prefetches what the next one, with a smaller number, reads. Nothing is new unless a
  /// known event was taken. Most events come too early, because flows have begun since they were
  /// scheduled: they read the link alone, and are dropped at the first look.
  void fetch_ahead() {
    if (std::exchange(fetched_at_, events_.taken()) == events_.taken()) return;
    const Event* event = events_.ahead(kFetchLinks);
    if (event != nullptr && event->who < first_transfer_) links_.prefetch(event->who);
    std::uint32_t who = kNothing;
    event = events_.ahead(kFetchFlows);
    if (event != nullptr && (event->who & kAlarm) == 0 &&
        (event->who >= first_transfer_ || links_.serves_by(event->who, event->time))) {
      who = event->who;
    }
    fetching_[fetched_ % kFetching] = who;
    constexpr std::array<std::size_t, 3> kSince{6, 3, 0};  // events since the first look
#pragma GCC unroll 3
    for (std::size_t stage = 0; stage < kSince.size(); ++stage) {
      const std::uint32_t of = fetching_[(fetched_ - kSince[stage]) % kFetching];
      if (of == kNothing) continue;
      if (of >= first_transfer_) {
        prefetch_entering(of - first_transfer_, stage);
      } else {
        prefetch_served(of, stage);
      }
    }
    ++fetched_;
  }
  /// For a transfer that will enter its links: prefetches the transfer, its flow, and the links.
  void prefetch_entering(TransferIndex index, std::size_t stage) const {
    if (stage == 2) {
      prefetch_line(&transfers_[index]);
      links_.prefetch_flow(index);
    } else if (stage == 1) {
      links_.prefetch_links(index);
    } else {
      links_.prefetch_later_of_links(index);
    }
  }
  /// For a link that will have served a flow: prefetches the flow, its requests, and the strands of
  /// these.
  void prefetch_served(topologies::LinkIndex link, std::size_t stage) {
    const FlowIndex flow = links_.first_of(link);
    if (stage == 2) {
      links_.prefetch_later(link);
      links_.prefetch_flow(flow);
      prefetch_line(&transfers_[flow]);
    } else if (stage == 1) {
      const Transfer& transfer = transfers_[flow];
      links_.prefetch_tracked(flow);
      if (transfer.send != kNoSlot) prefetch_slot(transfer.from, transfer.send);
      prefetch_slot(transfer.to, transfer.receive);
      prefetch(transfer.from, transfer.strand);
      prefetch(transfer.to, transfer.strand);
      if (StepSlot::is(transfer.receive)) {
        exchanges().prefetch(transfer.from);
        exchanges().prefetch(transfer.to);
      }
    } else {
      const Transfer& transfer = transfers_[flow];
      links_.prefetch_later_of_tracked(flow);
      if (StepSlot::is(transfer.receive)) return prefetch_steps(transfer);
      prefetch_line(slots()[transfer.receive].message.payload.body.get());
      for (const Rank rank : {transfer.from, transfer.to}) prefetch_resumed(rank, transfer.strand);
    }
  }
  /// For a message of an exchange that will be complete: prefetches what the ranks read at their
  /// next step.
  void prefetch_steps(const Transfer& transfer) {
    prefetch_line(exchanges()
                      .receiving(transfer.to, StepSlot::step(transfer.receive))
                      .message.payload.body.get());
    for (const Rank rank : {transfer.from, transfer.to}) {
      const Exchanges::OfRank& own = exchanges().of(rank);
      if (own.done == own.steps) continue;
      prefetch_line(own.part);
      prefetch_line(reinterpret_cast<const char*>(own.part) + 64);
      prefetch_line(own.read_next);
      prefetch_books(rank);
      exchanges().prefetch_sending(rank, own.done);
      exchanges().prefetch_receiving(rank, own.done);
      exchanges().prefetch_receiving(rank, own.done + 1);
      if (own.posted == own.steps) continue;
      const ExchangePeers next = peers_in_step(rank, size_, own.posted);
      exchanges().prefetch(next.from);
      exchanges().prefetch_sending(next.from, own.posted);
      exchanges().prefetch(next.to);
      exchanges().prefetch_receiving(next.to, own.posted);
      fabric_.prefetch_way(rank, next.to, links_);
    }
  }
  void prefetch_slot(Rank rank, SlotIndex slot) const {
    if (StepSlot::is(slot)) {
      exchanges().prefetch(rank, slot);
    } else {
      slots().prefetch(slot);
    }
  }
  /// Completes the requests of all messages that have been delivered or sent.
  void complete_all() {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < completions_.size(); ++i) {
      if (i + kAhead < completions_.size()) {
        const Completion& later = completions_[i + kAhead];
        prefetch_slot(later.rank, later.slot);
        prefetch(later.rank, later.strand);
      }
      complete(completions_[i].rank, completions_[i].strand, completions_[i].slot,
               completions_[i].time);
    }
    completions_.clear();
  }

  [[nodiscard]] RareTransfer& rare(TransferIndex index) {
    if (index >= rare_.size()) rare_.resize(index + 1);
    return rare_[index];
  }

  TransferIndex acquire() {
    if (free_.empty()) {
      transfers_.emplace_back();
      return static_cast<TransferIndex>(transfers_.size() - 1);
    }
    const TransferIndex index = free_.back();
    free_.pop_back();
    return index;
  }

  /// Lets a message depart at `time`, or when it was posted, whichever is later. depart_all()
  /// handles the departure when no rank can run.
  void start(TransferIndex index, double time) { departing_.push_back({index, time}); }
  /// The same for a message that was posted long ago, when its receive is posted.
  void release(TransferIndex index, double time) {
    prefetch_line(&transfers_[index]);
    links_.prefetch_flow(index);
    start(index, time);
  }

  void depart_all() {
    constexpr std::size_t kStages = 6;
    constexpr std::size_t kAhead = 4;
    const std::size_t all = departing_.size();
    if (all == 1) {
      const Departing only = departing_.front();
      find_way(only.index, only.time);
      find_path(only.index);
      depart(only.index);
      departing_.clear();
      return;
    }
    const std::size_t ahead = std::min(kAhead, all);
    for (std::size_t i = 0; i < all + (kStages - 1) * ahead && all > 0; ++i) {
#pragma GCC unroll 6  // so that the stage is a constant
      for (std::size_t stage = 0; stage < kStages; ++stage) {
        const std::size_t at = i - stage * ahead;  // a huge number before its first message
        if (at < all) depart_in_stages(departing_[at], stage);
      }
    }
    departing_.clear();
  }
  /// Each stage prefetches what the next one reads.
  void depart_in_stages(const Departing& departing, std::size_t stage) {
    const TransferIndex index = departing.index;
    const Transfer& transfer = transfers_[index];
    if (stage == 0) {
      prefetch_line(&transfer);
      links_.prefetch_flow(index);
    } else if (stage == 1) {
      fabric_.prefetch_end(transfer.from);
      fabric_.prefetch_end(transfer.to);
    } else if (stage == 2) {
      fabric_.prefetch_way(transfer.from, transfer.to, links_);
    } else if (stage == 3) {
      find_way(index, departing.time);
    } else if (stage == 4) {
      find_path(index);
    } else {
      depart(index);
    }
  }
  /// The ranks between which a transfer goes.
  [[nodiscard]] Ends ends_of(TransferIndex index) const {
    if (have_ends_) return rare_[index].ends;
    return {.from = transfers_[index].from, .to = transfers_[index].to};
  }
  void find_way(TransferIndex index, double time) {
    Transfer& transfer = transfers_[index];
    transfer.departed = std::max(time, transfer.posted);
    const auto [from, to] = ends_of(index);
    transfer.way = fabric_.way(from, to);
    transfer.latency = fabric_.latency(from, to, transfer.way) + host_.latency.value();
    if (!transfer.eager) {
      if (host_.handshake) {
        const double announced = transfer.posted + transfer.latency;
        transfer.departed = std::max(transfer.departed, announced) + transfer.latency;
      }
      transfer.departed += host_.handshake_time.value();
    }
    fabric_.prefetch_path(transfer.way);
  }
  void find_path(TransferIndex index) {
    const Transfer& transfer = transfers_[index];
    const auto [from, to] = ends_of(index);
    take(index, fabric_.minimal_path(from, to, transfer.way));
    if (transfer.departed + transfer.latency <= now_) links_.prefetch_links(index);
  }
  void take(TransferIndex index, const typename Fabric::Path& path) {
    if (recorder_ != nullptr) recorder_->departs(index, path);
    links_.set_links(index, {path.shared.data(), path.shared.size()});
    if (path.extra_latency == 0) return;
    transfers_[index].course = Course::detour;
    rare(index).extra_latency = path.extra_latency;
  }
  void depart(TransferIndex index) {
    Transfer& transfer = transfers_[index];
    if (host_.is_buffered(transfer.words)) complete_eager(transfer);
    if (host_.waits_for_destination(size_, transfer.words) &&
        !destinations_.enter(index, transfer.from, transfer.to, transfer.departed)) {
      await_acknowledgement(transfer.from);
      return;
    }
    if (!leave_rank(index)) return;
    // As in SimGrid, the links begin to serve a message after the latency of its route.
    const double enters = transfer.departed + transfer.latency;
    if (enters > now_) {
      events_.push(enters, first_transfer_ + index);
    } else {
      enter_links(index, now_);
      deliver_completed();
    }
  }
  /// A message leaves its rank; returns false if it has to wait for others first.
  bool leave_rank(TransferIndex index) {
    Transfer& transfer = transfers_[index];
    if (host_.is_queued(transfer.words)) queue(transfer);
    if (transfer.eager && !host_.is_buffered(transfer.words)) complete_eager(transfer);
    if (host_.goes_one_way(transfer.words) && !turns_.enter(index, transfer.from, transfer.to)) {
      return false;
    }
    return !host_.is_buffered(transfer.words) ||
           connections_.enter(index, transfer.from, transfer.to);
  }
  /// If messages of a rank wait for an acknowledgement that is known, makes an event of it.
  void await_acknowledgement(Rank rank) {
    const std::optional<double> time = destinations_.next_admission(rank, now_);
    if (!time) return;
    const TransferIndex index = acquire();
    transfers_[index].from = rank;
    transfers_[index].course = Course::acknowledgement;
    links_.set_links(index, {});
    events_.push(*time, first_transfer_ + index);
  }
  void acknowledge(TransferIndex index, double time) {
    const Rank rank = transfers_[index].from;
    free_.push_back(index);
    for (const auto& [message, since] : destinations_.admit(rank, time)) {
      transfers_[message].departed = std::max(transfers_[message].departed, since);
      if (leave_rank(message)) follow(message, time);
    }
    await_acknowledgement(rank);
  }
  /// A message departs when those that its strand has queued before would have left, if they shared
  /// no link.
  void queue(Transfer& transfer) {
    double& until = queued_until_[2 * static_cast<std::size_t>(transfer.from.value()) +
                                  (transfer.strand == Strand::main ? 0 : 1)];
    transfer.departed = std::max(transfer.departed, until);
    until = transfer.departed + fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
  }
  /// Completes the send of an eager message, unless that waits for an acknowledgement.
  void complete_eager(Transfer& transfer) {
    if (host_.is_buffered(transfer.words)) {
      complete_send(transfer, transfer.posted - host_.buffering(transfer.words));
    } else if (!host_.is_acknowledged(transfer.words)) {
      complete_send(transfer, transfer.departed + fabric_.send_occupancy(
                                                      transfer.from, transfer.way, transfer.words));
    }
  }
  /// A message that has waited for others departs such that its head arrives at `time` or later.
  void follow(TransferIndex index, double time) {
    Transfer& transfer = transfers_[index];
    transfer.departed = std::max(transfer.departed, time - transfer.latency);
    events_.push(std::max(time, transfer.departed + transfer.latency), first_transfer_ + index);
  }
  void complete_send(Transfer& transfer, double time) {
    prefetch_slot(transfer.from, transfer.send);
    completions_.push_back({transfer.from, transfer.strand, transfer.send, time});
    transfer.send = kNoSlot;
  }

  /// Where messages may take other paths than the minimal one, chooses that of a message.
  void choose_path(TransferIndex index, double now) {
    if constexpr (Fabric::kMayAdapt) {
      if (!fabric_.adapts()) return;
      const Transfer& transfer = transfers_[index];
      take(index, fabric_.path({.from = transfer.from,
                                .to = transfer.to,
                                .way = transfer.way,
                                .words = transfer.words,
                                .now = now,
                                .number = departures_++},
                               links_));
    }
  }
  /// A message begins to be served by the links that it shares with others.
  void enter_links(TransferIndex index, double now) {
    const Transfer& transfer = transfers_[index];
    if (transfer.in_switches()) return enter_switches(index, now);
    if (transfer.course == Course::acknowledgement) return acknowledge(index, now);
    choose_path(index, now);
    if (!links_.has_links(index)) {
      deliver(index, now);
      return;
    }
    const double demand = fabric_.demand(transfer.way, transfer.words);
    if (!std::isfinite(now + demand)) throw_time_overflow();
    links_.begin(now, index, demand);
  }

  void deliver_completed() {
    for (const FlowIndex flow : links_.served()) prefetch_line(&transfers_[flow]);
    const auto completed = links_.completed(now_);
    for (const TransferIndex index : completed) deliver(index, now_);
  }
  /// Called when the shared links of a message, if any, have served it. The message is delivered at
  /// this time or when it would arrive if it shared no link, whichever is later.
  void deliver(TransferIndex index, double now) {
    Transfer& transfer = transfers_[index];
    if (transfer.in_switches()) return leave_switches(index, now);
    const double head = transfer.departed + transfer.latency;
    const double alone = head + fabric_.uncontended(transfer.way, transfer.words);
    double delivered = std::max(now, alone);
    if (transfer.course == Course::detour) delivered += rare_[index].extra_latency;
    if (timeline_ != nullptr) show(transfer, head, delivered);
    if (recorder_ != nullptr) recorder_->completes(index, transfer, now);
    if (transfer.send != kNoSlot) {
      complete_send(transfer, delivered + (transfer.eager ? transfer.latency : 0));
    }
    if (host_.goes_one_way(transfer.words)) {
      for (const TransferIndex next : turns_.leave(transfer.from, transfer.to)) {
        follow(next, delivered);
      }
    }
    if (host_.is_buffered(transfer.words)) {
      const auto next = connections_.leave(transfer.from, transfer.to);
      if (next) follow(*next, delivered);
    }
    prefetch_slot(transfer.to, transfer.receive);
    completions_.push_back({transfer.to, transfer.strand, transfer.receive, delivered});
    free_.push_back(index);
    if (host_.waits_for_destination(size_, transfer.words)) {
      const Rank from = transfer.from;
      destinations_.deliver(from, transfer.to, delivered + transfer.latency);
      await_acknowledgement(from);
    }
  }

  void show(const Transfer& transfer, double received_from, double delivered) {
    const double occupied = fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
    timeline_->add({.from = transfer.from,
                    .to = transfer.to,
                    .strand = transfer.strand,
                    .tag = StepSlot::is(transfer.receive) ? exchanges().of(transfer.from).tag
                                                          : slots()[transfer.receive].tag,
                    .words = transfer.words,
                    .posted = Seconds(transfer.posted),
                    .send_begin = Seconds(transfer.departed),
                    .send_end = Seconds(transfer.eager ? transfer.departed + occupied : delivered),
                    .receive_begin = Seconds(received_from),
                    .receive_end = Seconds(delivered)});
  }

  int size_;
  const Fabric& fabric_;
  HostCosts host_;
  Timeline* timeline_;
  Recorder* recorder_;
  /// `who`: a link, first_transfer_ plus a transfer that enters its links, or kAlarm and a strand.
  EventWindow events_;
  FairLinks links_;
  std::uint32_t first_transfer_;
  double now_ = 0;     ///< the time of the last event
  double window_ = 0;  ///< seconds
  static constexpr std::size_t kNotFetched = std::numeric_limits<std::size_t>::max();
  std::size_t fetched_at_ = kNotFetched;  ///< events_.taken() when fetch_ahead() last did its work
  /// How many events before theirs links and flows are prefetched.
  static constexpr std::size_t kFetchLinks = 12;
  static constexpr std::size_t kFetchFlows = 9;
  static constexpr std::size_t kFetching = 16;
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  std::array<std::uint32_t, kFetching> fetching_;  ///< `who` of events to come
  std::size_t fetched_ = kFetching;                ///< events looked at
  std::vector<Transfer> transfers_;
  std::vector<RareTransfer> rare_;  ///< by transfer, up to the last one that has needed it
  bool have_ends_ = false;          ///< whether these have the ends of all transfers
  std::vector<Departing> departing_;
  std::vector<TransferIndex> free_;
  std::uint64_t departures_ = 0;
  Turns turns_;
  Connections connections_;
  Destinations destinations_;
  std::vector<double> queued_until_;  ///< by strand of a rank, if messages are queued
  SwitchSums sums_;
  std::map<std::tuple<ReducingLevel, int, int, int>, SwitchTree> trees_;  ///< by level and members
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  /// The completion, at `time`, of a request that a strand may wait for.
  struct Completion {
    Rank rank;
    Strand strand;
    SlotIndex slot;
    double time;
  };
  std::vector<Completion> completions_;
};

}  // namespace thinwire::networks
