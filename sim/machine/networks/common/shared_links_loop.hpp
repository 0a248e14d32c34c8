// The life of a message on the networks whose messages share links fairly: `alphabeta`, where the
// links are the ports of the ranks, and `links`, where they are the links of a platform. A message
//   is posted by its sender, and takes a transfer;
//   is matched with its receive (mailbox.hpp, or by its step in an exchange);
//   departs, when both are posted (rendezvous), so that no link is kept busy by a message that no
//     rank waits for. Its route tells its latency, and its path the links that it takes. Where its
//     posts tell its end, it is complete at once (exclusive_ports.hpp, joint.hpp);
//   shares its links with other messages from a latency later on (fair_links.hpp);
//   is delivered when all its links have served it, and not before it would be if it shared none;
//   is received when its ranks, whose requests are complete, run on.
// Messages of up to `eager` bytes depart when their send is posted. Their send is complete after the
// time that the message would need to leave its rank if it shared no link.
//
// Beside this file: what a rank pays (posting.hpp), what holds messages back (host_rules.hpp),
// collectives in switches (switch_flows.hpp), what is prefetched (read_ahead.hpp), and what is under
// way (under_way.hpp). How ranks are started and resumed is in event_loop.hpp.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/exclusive_ports.hpp"
#include "sim/machine/networks/common/host_rules.hpp"
#include "sim/machine/networks/common/joint.hpp"
#include "sim/machine/networks/common/posting.hpp"
#include "sim/machine/networks/common/read_ahead.hpp"
#include "sim/machine/networks/common/switch_flows.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The loop of the links of a `Fabric` (under_way.hpp).
template <class Fabric>
class SharedLinksLoop final : public EventLoop {
 public:
  using Recorder = typename Fabric::Recorder;
  using Transfer = typename UnderWay<Fabric>::Transfer;
  using Poster = PostingRank<SharedLinksLoop>;
  static constexpr bool kHasPlaces = Fabric::kHasPlaces;

  /// `bandwidths`, by link, are those available to the ranks; `timeline` and `recorder` may be
  /// nullptr. `events_alone`: each message is made of events, even if its posts tell its end.
  SharedLinksLoop(int size, const Fabric& fabric, std::span<const double> bandwidths,
                  const HostCosts& host, Timeline* timeline, Recorder* recorder,
                  const ReadAheadSettings& read_ahead = {}, bool events_alone = false)
      : fabric_(fabric),
        timeline_(timeline),
        recorder_(recorder),
        all_(size, fabric, bandwidths, host),
        rules_(all_),
        exclusive_(all_, *this, timeline == nullptr && !rules_.applies() && !events_alone),
        joint_(all_, rules_, *this),
        switch_flows_(all_, slots(), recorder),
        read_ahead_(all_, *this, read_ahead) {
    for (int r = 0; r < size; ++r) ranks_.push_back(make_strand(Rank(r), Strand::main));
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    return timed_report();
  }

  // --- A message is posted, and matched with its receive.

  [[nodiscard]] const HostCosts& host() const { return all_.host; }

  /// Posts a message; returns the slot that completes with its send.
  SlotIndex post(const Posting& posting, Message&& message) {
    exclusive_.post_send(posting.from, posting.strand);
    const TransferIndex index = all_.transfers.acquire();
    const Words words = message.words;
    const SlotIndex send = slots().acquire(posting.to, posting.tag, false);
    slots()[send].transfer = index;
    const Match match = mailbox(posting.to, posting.strand)
                            .send(slots(), posting.from, posting.tag, std::move(message), index);
    const bool eager = all_.fill(index, posting, words, send, match.slot);
    if (!eager && !match.posted) {
      slots()[match.slot].held = true;
    } else {
      departing_.push_back({index, eager ? posting.ready : slots()[match.slot].stamp});
    }
    return send;
  }
  /// Posts what a rank sends in the step of an exchange that it posts.
  void post_in_step(Rank from, Rank to, const Exchanges::OfRank& own, Message&& message,
                    double ready) {
    exclusive_.post_receive(from, Strand::main);
    exclusive_.post_send(from, Strand::main);
    const TransferIndex index = all_.transfers.acquire();
    const Posting posting{.from = from, .to = to, .tag = own.tag, .ready = ready};
    const bool eager =
        all_.fill(index, posting, message.words, StepSlot::of_send(own.posted, own.odd),
                  StepSlot::of_receive(own.posted, own.odd));
    const Exchanges::Step at{to, own.posted, own.odd};
    if (!eager && !exchanges().has_posted(at)) {
      exchanges().sending(from, at.step) = {.message = std::move(message), .transfer = index};
      return;
    }
    Exchanges::Receiving& receiving = exchanges().arriving(at);
    receiving.message = std::move(message);
    receiving.sent = true;
    departing_.push_back({index, eager ? ready : receiving.posted});
  }
  /// Lets a message depart that was held, when its receive is posted at `time`.
  void release(TransferIndex index, double time) {
    read_ahead_.released(index);
    departing_.push_back({index, time});
  }
  [[nodiscard]] SwitchFlows<Fabric>& switch_flows() {
    exclusive_.stop();  // what they carry enters ports with no message
    return switch_flows_;
  }
  [[nodiscard]] ExclusivePorts<Fabric>& exclusive_ports() { return exclusive_; }
  [[nodiscard]] Joint<Fabric, Poster>& joint() { return joint_; }

 protected:
  /// Handles the events within one lookahead, or at one instant if the lookahead is 0. A message that
  /// a rank posts because of one of these events reaches its links no earlier than the end of this
  /// time. The ranks therefore need not run between the events, and many run together after them.
  bool advance() override {
    joint_.pairs.post_unpaired();
    depart_all();
    // Ranks run on before other events if their eager sends, or messages that share no port, are complete.
    if (!all_.completions.empty()) {
      complete_all();
      return true;
    }
    EventWindow& events = all_.events;
    const bool has_next = read_ahead_.has_next();
    if (joint_.end(has_next)) return true;
    if (!has_next) return false;
    const double first = events.next_time();
    const double end = first + fabric_.lookahead();
    do {
      read_ahead_.before_event();
      handle(events.next());
    } while (read_ahead_.has_next() && (events.next_time() < end || events.next_time() == first));
    complete_all();
    return true;
  }

  [[nodiscard]] double handled() const override { return all_.now; }
  [[nodiscard]] bool strands_run_ahead() const override {
    return Fabric::kOnlyPorts && !rules_.applies();
  }
  bool joins_exchange(LoopRank& rank, ExchangePart& part, Tag tag, int under_way) override {
    if constexpr (!Fabric::kOnlyPorts) return false;
    return joint_.exchange.joins(
        {.rank = &static_cast<Poster&>(rank), .part = &part, .tag = tag, .under_way = under_way},
        exclusive_.is_clear(rank.rank()));
  }
  bool joins_rounds(LoopRank& rank, const Members& members, const RoundsPart& part, Tag tag,
                    bool& taken) override {
    if constexpr (!Fabric::kOnlyPorts) return false;
    return joint_.rounds.joins({.rank = &static_cast<Poster&>(rank), .taken = &taken}, members,
                               part, tag, exclusive_.is_clear(rank.rank()));
  }
  void wake_at(double time, std::size_t strand) override { all_.ring_at(time, strand); }
  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    return make_strand(rank, Strand::second);
  }

 private:
  // --- It departs: on its route, with a path, as soon as the rules of its host let it.

  void depart_all() {
    const auto route = [this](TransferIndex index, double met) { find_route(index, met); };
    exclusive_.take(departing_, route);
    read_ahead_.in_stages(
        departing_, route, [this](TransferIndex index) { find_path(index); },
        [this](TransferIndex index) { depart(index); });
    departing_.clear();
  }
  void find_route(TransferIndex index, double met) {
    Transfer& transfer = all_.transfers[index];
    const auto [from, to] = all_.ends_of(index);
    transfer.route = fabric_.route(from, to);
    transfer.latency = fabric_.latency(from, to, transfer.route) + all_.host.latency.value();
    transfer.departed = rules_.departure(transfer, met);
  }
  void find_path(TransferIndex index) {
    const auto [from, to] = all_.ends_of(index);
    take(index, fabric_.minimal_path(from, to, all_.transfers[index].route));
  }
  void depart(TransferIndex index) {
    if (!rules_.lets_depart(index)) return;
    // As in SimGrid, the links begin to serve a message after the latency of its route.
    const Transfer& transfer = all_.transfers[index];
    const double enters = transfer.departed + transfer.latency;
    if (enters > all_.now) {
      all_.enter_at(enters, index);
    } else {
      enter_links(index);
      deliver_completed();
    }
  }
  [[nodiscard]] Tag tag_of(const Transfer& transfer) const {
    return StepSlot::is(transfer.receive) ? exchanges().of(transfer.from).tag
                                          : slots()[transfer.receive].tag;
  }
  void take(TransferIndex index, const typename Fabric::Path& path) {
    if (recorder_ != nullptr) recorder_->departs(index, path);
    all_.take(index, path);
  }

  // --- It shares its links with other messages.

  void handle(const Event& event) {
    all_.now = event.time;
    if ((event.who & UnderWay<Fabric>::kAlarm) != 0) {
      ring(event.who - UnderWay<Fabric>::kAlarm, event.time);
    } else if (event.who >= all_.first_transfer) {
      enter_links(event.who - all_.first_transfer);
    } else {
      all_.links.handle_event(event.time, event.who);
    }
    deliver_completed();
  }
  /// What comes to its links now begins to be served by them.
  void enter_links(TransferIndex index) {
    const Transfer& transfer = all_.transfers[index];
    if (transfer.in_switches()) return switch_flows_.enter(index);
    if (transfer.kind == TransferKind::acknowledgement) return rules_.acknowledged(index);
    choose_path(index);
    if (!all_.links.has_links(index)) return deliver(index);
    const double demand = fabric_.demand(transfer.route, transfer.words);
    if (!std::isfinite(all_.now + demand)) throw_time_overflow();
    all_.links.begin(all_.now, index, demand);
  }
  /// Where messages may take other paths than the minimal one, chooses the path of a message.
  void choose_path(TransferIndex index) {
    if constexpr (Fabric::kMayAdapt) {
      if (!fabric_.adapts()) return;
      const Transfer& message = all_.transfers[index];
      take(index, fabric_.path({message.from, message.to, message.route, message.words, all_.now,
                                all_.number_of(index)},
                               all_.links));
    }
  }

  // --- It is delivered.

  void deliver_completed() {
    read_ahead_.served(all_.links.served());
    for (const TransferIndex index : all_.links.completed(all_.now)) deliver(index);
  }
  /// Called when the shared links of a message, if any, have served it. The message is delivered at
  /// this time or when it would arrive if it shared no link, whichever is later.
  void deliver(TransferIndex index) {
    Transfer& transfer = all_.transfers[index];
    if (transfer.in_switches()) return switch_flows_.leave(index);
    double delivered = std::max(all_.now, all_.end_alone(transfer));
    if (transfer.kind == TransferKind::detour)
      delivered += all_.transfers.rare(index).extra_latency;
    if (timeline_ != nullptr) timeline_->add(all_.shown(transfer, tag_of(transfer), delivered));
    if (recorder_ != nullptr) recorder_->completes(index, transfer, all_.now);
    read_ahead_.delivered(transfer);
    exclusive_.leave(transfer);
    all_.complete(index, delivered + (transfer.eager ? transfer.latency : 0), delivered);
    rules_.delivered(transfer, delivered);
  }

  // --- It is received: its ranks run on, if they wait for it.

  void complete_all() {
    for (std::size_t i = 0; i < all_.completions.size(); ++i) {
      read_ahead_.before_completion(i);
      const Completion& completion = all_.completions[i];
      complete(completion.rank, completion.strand, completion.slot, completion.time);
    }
    all_.completions.clear();
  }

  std::unique_ptr<LoopRank> make_strand(Rank rank, Strand strand) {
    auto made = std::make_unique<Poster>(rank, all_.size, *this, strand);
    if (timeline_ != nullptr) made->follow(timeline_->track(rank, strand));
    return made;
  }

  const Fabric& fabric_;
  Timeline* timeline_;
  Recorder* recorder_;
  UnderWay<Fabric> all_;
  HostRules<Fabric> rules_;
  ExclusivePorts<Fabric> exclusive_;
  Joint<Fabric, Poster> joint_;
  SwitchFlows<Fabric> switch_flows_;
  ReadAhead<Fabric> read_ahead_;
  std::vector<Departing> departing_;  ///< when no rank can run
  std::vector<std::unique_ptr<LoopRank>> ranks_;
};

}  // namespace thinwire::networks
