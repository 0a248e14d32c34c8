#include "sim/machine/networks/links/links_loop.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/event_window.hpp"
#include "sim/machine/networks/links/fair_links.hpp"
#include "sim/machine/networks/links/transfer.hpp"

namespace thinwire::networks {

namespace {

class LinksLoop;

/// A strand of a rank.
class LinksRank final : public TimedRank {
 public:
  LinksRank(Rank rank, int size, LinksLoop& loop, Strand strand);

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;

 private:
  LinksLoop& loop_;
  Strand strand_;
};

class LinksLoop final : public EventLoop {
 public:
  LinksLoop(int size, const Fabric& fabric, std::span<const double> bandwidths, Bytes eager,
            Timeline* timeline, LinkRecorder* recorder)
      : size_(size),
        fabric_(fabric),
        eager_(eager),
        timeline_(timeline),
        recorder_(recorder),
        links_(bandwidths, events_),
        first_transfer_(static_cast<std::uint32_t>(bandwidths.size())) {
    if (fabric.serial()) receive_free_.resize(fabric.links());
    for (int rank = 0; rank < size; ++rank) {
      if (fabric.serial()) {
        first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));
        ports_.resize(ports_.size() + fabric.ports(Rank(rank)));
      }
      auto made = std::make_unique<LinksRank>(Rank(rank), size, *this, Strand::main);
      if (timeline_ != nullptr) made->follow(timeline_->track(Rank(rank), Strand::main));
      ranks_.push_back(std::move(made));
    }
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    return timed_report();
  }

  /// Posts a message of a rank; returns the slot that completes with the send.
  SlotIndex post(Rank from, Rank to, Strand strand, Tag tag, Message&& message, double now) {
    const TransferIndex index = acquire();
    const Words words = message.words;
    const SlotIndex send = slots().acquire(to, tag, false);
    slots()[send].transfer = index;
    const Match match = EventLoop::match(from, to, strand, tag, std::move(message), index);
    const bool eager = fabric_.serial() || (eager_ > Bytes(0) && to_bytes(words) <= eager_);
    transfers_[index] = {.way = {},
                         .from = from,
                         .to = to,
                         .tag = tag,
                         .strand = strand,
                         .eager = eager,
                         .released = eager || match.posted,
                         .words = words,
                         .send = send,
                         .receive = match.slot,
                         .posted = now,
                         .departed = 0,
                         .latency = 0,
                         .extra_latency = 0};
    if (eager) {
      start(index, now);
    } else if (match.posted) {
      start(index, std::max(now, slots()[match.slot].stamp));
    }
    return send;
  }
  /// A receive is posted for a message that was sent earlier.
  void receive_posted(TransferIndex index, double now) {
    Transfer& transfer = transfers_[index];
    if (std::exchange(transfer.released, true)) return;
    start(index, std::max(now, transfer.posted));
  }

 protected:
  /// Handles all events of one lookahead: no event of it affects a rank before its end. So the data
  /// of the events can be prefetched, and many ranks run at a time.
  bool advance() override {
    depart_all();
    if (!completions_.empty()) {  // eager sends: their senders continue before other events
      complete_all();
      return true;
    }
    if (!events_.open(fabric_.lookahead())) return false;
    Event event{};
    while (fetch_ahead(), events_.next(event)) {
      if (fabric_.serial()) {
        serve(event.who, event.time);
      } else if (event.who >= first_transfer_) {
        enter_links(event.who - first_transfer_, event.time);
      } else {
        links_.handle_event(event.time, event.who);
      }
      for (const TransferIndex index : links_.completed(event.time)) deliver(index, event.time);
    }
    complete_all();
    return true;
  }

  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    auto second = std::make_unique<LinksRank>(rank, size_, *this, Strand::second);
    if (timeline_ != nullptr) second->follow(timeline_->track(rank, Strand::second));
    return second;
  }

 private:
  /// Each stage prefetches what the next one reads: a transfer, the links of its way, their state.
  void fetch_ahead() const {
    constexpr std::size_t kStage = 3;
    const auto entering = [&](std::size_t stages) -> const Transfer* {
      const Event* event = events_.ahead(stages * kStage);
      if (fabric_.serial() || event == nullptr || event->who < first_transfer_) return nullptr;
      return &transfers_[event->who - first_transfer_];
    };
    if (const Transfer* transfer = entering(3)) {
      prefetch_line(transfer);
      links_.prefetch_flow(static_cast<FlowIndex>(transfer - transfers_.data()));
    }
    if (const Transfer* transfer = entering(2)) fabric_.prefetch_path(transfer->way);
    if (const Transfer* transfer = entering(1)) {
      fabric_.for_each_link(transfer->from, transfer->to, transfer->way,
                            fabric_.minimal(transfer->way),
                            [this](topologies::LinkIndex link) { links_.prefetch(link); });
    }
  }

  /// Completes the requests of all messages that have been delivered or sent.
  void complete_all() {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < completions_.size(); ++i) {
      if (i + kAhead < completions_.size()) {
        const Completion& later = completions_[i + kAhead];
        slots().prefetch(later.slot);
        prefetch(later.rank, later.strand);
      }
      complete(completions_[i].rank, completions_[i].strand, completions_[i].slot,
               completions_[i].time);
    }
    completions_.clear();
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

  /// Departs a message at `time`; depart_all() handles it once no rank can run.
  void start(TransferIndex index, double time) {
    transfers_[index].departed = time;
    departing_.push_back(index);
  }

  void depart_all() {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < departing_.size(); ++i) {
      if (i + kAhead < departing_.size()) {
        const Transfer& later = transfers_[departing_[i + kAhead]];
        fabric_.prefetch_way(later.from, later.to);
      }
      depart(departing_[i]);
    }
    departing_.clear();
  }
  void depart(TransferIndex index) {
    Transfer& transfer = transfers_[index];
    transfer.way = fabric_.way(transfer.from, transfer.to);
    transfer.latency = fabric_.latency(transfer.from, transfer.to, transfer.way);
    if (fabric_.serial()) {
      const std::uint32_t at =
          first_port_[static_cast<std::size_t>(transfer.from.value())] + Fabric::port(transfer.way);
      ports_[at].push(transfer.departed, index);
      schedule(at);
      return;
    }
    if (transfer.eager) {
      complete_send(transfer, transfer.departed + fabric_.send_occupancy(
                                                      transfer.from, transfer.way, transfer.words));
    }
    // Shared links serve a message once its head has arrived, as SimGrid's do.
    events_.push(transfer.departed + transfer.latency, first_transfer_ + index);
  }
  void complete_send(Transfer& transfer, double time) {
    completions_.push_back({transfer.from, transfer.strand, transfer.send, time});
    transfer.send = kNoSlot;
  }

  void schedule(std::uint32_t at) {
    SendPort& port = ports_[at];
    const double next = port.next();
    if (next >= port.scheduled) return;
    port.scheduled = next;
    events_.push(next, at);
  }
  /// Departs the transfers of a serial port.
  void serve(std::uint32_t at, double now) {
    SendPort& port = ports_[at];
    if (port.scheduled != now) return;
    port.scheduled = SendPort::kNever;
    while (port.next() == now) {
      const TransferIndex index = port.pop();
      Transfer& transfer = transfers_[index];
      transfer.departed = now;
      port.free = now + fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
      complete_send(transfer, port.free);
      if (recorder_ != nullptr) static_cast<void>(choose_path(index, now));
      deliver(index, now);
    }
    schedule(at);
  }
  /// A message begins to be served by the links that it shares with others.
  void enter_links(TransferIndex index, double now) {
    const Fabric::Path path = choose_path(index, now);
    if (path.shared.empty()) {
      deliver(index, now);
      return;
    }
    Transfer& transfer = transfers_[index];
    transfer.extra_latency = path.extra_latency;
    links_.begin(now, index, {path.shared.data(), path.shared.size()},
                 fabric_.demand(transfer.way, transfer.words));
  }
  [[nodiscard]] Fabric::Path choose_path(TransferIndex index, double now) {
    const Transfer& transfer = transfers_[index];
    Fabric::Path path = fabric_.path({.from = transfer.from,
                                      .to = transfer.to,
                                      .way = transfer.way,
                                      .words = transfer.words,
                                      .now = now,
                                      .number = departures_++},
                                     links_);
    if (recorder_ != nullptr) recorder_->departs(index, path.middle);
    return path;
  }

  /// A message has crossed all links that it shares with others, if any: its tail follows.
  void deliver(TransferIndex index, double now) {
    Transfer& transfer = transfers_[index];
    double head = transfer.departed + transfer.latency;
    if (fabric_.serial()) {
      head = receive_from(transfer, head);
    }
    double delivered = head + fabric_.uncontended(transfer.way, transfer.words);
    if (!fabric_.serial()) delivered = std::max(now, delivered) + transfer.extra_latency;
    if (timeline_ != nullptr) show(transfer, head, delivered);
    if (recorder_ != nullptr) recorder_->completes(index, transfer, now, head);
    if (transfer.send != kNoSlot) complete_send(transfer, delivered);
    completions_.push_back({transfer.to, transfer.strand, transfer.receive, delivered});
    free_.push_back(index);
  }

  /// Reserves a serial port of the receiver for a message whose head arrives at `head`; returns
  /// when the port begins to serve it.
  double receive_from(const Transfer& transfer, double head) {
    if (transfer.way.down == topologies::Way::kNoPort) return head;
    const topologies::LinkIndex port = fabric_.receive_port(transfer.to, transfer.way);
    const double begin = std::max(head, receive_free_[port]);
    receive_free_[port] = begin + fabric_.occupancy(transfer.way, port, transfer.words);
    return begin;
  }

  void show(const Transfer& transfer, double received_from, double delivered) {
    const double occupied = fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
    timeline_->add({.from = transfer.from,
                    .to = transfer.to,
                    .strand = transfer.strand,
                    .tag = transfer.tag,
                    .words = transfer.words,
                    .posted = Seconds(transfer.posted),
                    .send_begin = Seconds(transfer.departed),
                    .send_end = Seconds(transfer.eager ? transfer.departed + occupied : delivered),
                    .receive_begin = Seconds(received_from),
                    .receive_end = Seconds(delivered)});
  }

  int size_;
  const Fabric& fabric_;
  Bytes eager_;
  Timeline* timeline_;
  LinkRecorder* recorder_;
  EventWindow events_;  ///< `who`: a serial port; or a link, then a transfer that enters the links
  FairLinks links_;
  std::uint32_t first_transfer_;
  std::vector<SendPort> ports_;            ///< only if serial
  std::vector<double> receive_free_;       ///< by link: when a serial port has received all so far
  std::vector<std::uint32_t> first_port_;  ///< by rank
  std::vector<Transfer> transfers_;
  std::vector<TransferIndex> departing_;
  std::vector<TransferIndex> free_;
  std::uint64_t departures_ = 0;
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

LinksRank::LinksRank(Rank rank, int size, LinksLoop& loop, Strand strand)
    : TimedRank(rank, size, loop), loop_(loop), strand_(strand) {}

Request LinksRank::isend(Rank to, Tag tag, Message message) {
  check_peer(*this, to);
  books().sent(message.words);
  return slot_request(loop_.post(rank(), to, strand_, tag, std::move(message), clock_));
}

Request LinksRank::irecv(Rank from, Tag tag) {
  const Request request = TimedRank::irecv(from, tag);
  const Slot& slot = slots()[slot_of(request)];
  if (slot.sent && !slot.arrived) loop_.receive_posted(slot.transfer, clock_);
  return request;
}

}  // namespace

RunReport run_on_links(int ranks, const RankProgram& program, const Fabric& fabric,
                       std::span<const double> bandwidths, Bytes eager, Timeline* timeline,
                       LinkRecorder* recorder) {
  return LinksLoop(ranks, fabric, bandwidths, eager, timeline, recorder).run(program);
}

}  // namespace thinwire::networks
