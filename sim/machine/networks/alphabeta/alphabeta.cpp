#include "sim/machine/networks/alphabeta/alphabeta.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/event_queue.hpp"

namespace thinwire::networks {

namespace {

/// A posted message that has not departed yet.
struct Outgoing {
  double time;  ///< of departure; of posting if two strands share the port
  Rank to;
  Tag tag;
  Message message;
};

/// A FIFO queue in one block of memory, which is reused.
class OutgoingQueue {
 public:
  [[nodiscard]] bool empty() const { return head_ == messages_.size(); }
  [[nodiscard]] const Outgoing& front() const { return messages_[head_]; }
  void push(Outgoing&& message) { messages_.push_back(std::move(message)); }
  Outgoing pop() {
    Outgoing first = std::move(messages_[head_++]);
    if (empty()) {
      messages_.clear();
      head_ = 0;
    } else if (head_ > 64 && 2 * head_ > messages_.size()) {
      messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return first;
  }

 private:
  std::vector<Outgoing> messages_;
  std::size_t head_ = 0;
};

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A message that one of the two strands of a rank has posted to their port.
struct Posted : Outgoing {
  SlotIndex send;
};

/// The queue of a send port that two strands share. One strand may be ahead of the other, so the
/// departure time of a message is known only at its departure.
struct SharedSends {
  std::array<std::deque<Posted>, 2> posted = {};  ///< by strand, in order of time
  double scheduled = kNever;                      ///< the port's valid entry among the departures

  [[nodiscard]] Strand next() const {
    const auto& [main, second] = posted;
    if (main.empty() || second.empty()) return main.empty() ? Strand::second : Strand::main;
    return second.front().time < main.front().time ? Strand::second : Strand::main;
  }
  [[nodiscard]] std::deque<Posted>& of(Strand strand) {
    return posted[static_cast<std::size_t>(strand)];
  }
  [[nodiscard]] double next_posted() const {
    const auto& queue = posted[static_cast<std::size_t>(next())];
    if (queue.empty()) return kNever;
    return queue.front().time;
  }
};

/// The processor of a strand.
class PortUser : public TimedRank {
 public:
  PortUser(Rank rank, int size, const LogGP& machine, EventLoop& loop)
      : TimedRank(rank, size, loop), machine_(machine) {}

 protected:
  Message finish(Request request) override {
    if (is_receive(request)) clock_ += machine_.overhead.value();
    return TimedRank::finish(request);
  }

  /// Charges the processor overhead of a send.
  void prepare(Rank to, Words words) {
    check_peer(*this, to);
    clock_ += machine_.overhead.value();
    books().sent(words);
  }

  [[nodiscard]] const LogGP& machine() const { return machine_; }

 private:
  const LogGP& machine_;
};

/// A rank with its ports.
class PortRank final : public PortUser {
 public:
  PortRank(Rank rank, int size, const LogGP& machine, EventLoop& loop, EventQueue& departures)
      : PortUser(rank, size, machine, loop), departures_(departures) {}

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    prepare(to, message.words);
    if (shared_) return post(Strand::main, clock_, to, tag, std::move(message));
    const double departure = std::max(clock_, send_free_);
    send_free_ = departure + occupancy(message.words);
    if (posting_times_) posting_times_->push_back(clock_);
    if (outgoing_.empty()) departures_.push(departure, static_cast<std::uint32_t>(rank().value()));
    outgoing_.push({departure, to, tag, std::move(message)});
    return timed_request(send_free_);
  }

  /// Records the posting time of each message from now on.
  void keep_posting_times() { posting_times_ = std::make_unique<std::deque<double>>(); }
  /// The posting time of the departed message. For a shared port it is stored with the message.
  double take_posting_time() {
    const double time = posting_times_->front();
    posting_times_->pop_front();
    return time;
  }

  /// Adds the second strand. Messages that are already posted keep their departure.
  void share() {
    shared_ = std::make_unique<SharedSends>();
    if (!outgoing_.empty()) shared_->scheduled = outgoing_.front().time;
  }
  [[nodiscard]] bool shared() const { return shared_ != nullptr; }

  Request post(Strand strand, double time, Rank to, Tag tag, Message&& message) {
    const SlotIndex send = slots().acquire(to, tag, false);
    shared_->of(strand).push_back({{time, to, tag, std::move(message)}, send});
    schedule();
    return slot_request(send);
  }

  /// The departure time of the next message of a shared port, as far as is known.
  [[nodiscard]] double next_departure() const {
    if (!outgoing_.empty()) return outgoing_.front().time;
    return std::max(shared_->next_posted(), send_free_);
  }
  /// Whether an entry among the departures of a shared port is the valid one; it is then consumed.
  bool take_entry(double time) {
    if (shared_->scheduled != time) return false;
    shared_->scheduled = kNever;
    return true;
  }
  void schedule() {
    const double next = next_departure();
    if (next >= shared_->scheduled) return;
    departures_.push(next, static_cast<std::uint32_t>(rank().value()));
    shared_->scheduled = next;
  }
  /// Messages posted before the port was shared depart first.
  [[nodiscard]] bool has_unshared() const { return !outgoing_.empty(); }
  Outgoing depart_unshared() { return outgoing_.pop(); }
  [[nodiscard]] Strand next_strand() const { return shared_->next(); }
  Posted depart_posted(double time) {
    std::deque<Posted>& queue = shared_->of(shared_->next());
    Posted posted = std::move(queue.front());
    queue.pop_front();
    send_free_ = time + occupancy(posted.message.words);
    return posted;
  }
  [[nodiscard]] double send_free() const { return send_free_; }

  /// The message at the head of the send port departs. The next one is queued, unless it departs at
  /// the same time (g = 0 and no words): then it must be handled before any other rank's.
  Outgoing depart() {
    Outgoing message = outgoing_.pop();
    if (!outgoing_.empty() && !departs_at(message.time)) {
      departures_.push(outgoing_.front().time, static_cast<std::uint32_t>(rank().value()));
    }
    return message;
  }

  [[nodiscard]] bool departs_at(double time) const {
    return !outgoing_.empty() && outgoing_.front().time == time;
  }
  /// The next message, for prefetching; nullptr if the port is shared.
  [[nodiscard]] const Outgoing* next() const {
    return outgoing_.empty() ? nullptr : &outgoing_.front();
  }
  void prefetch_ports() const {
    prefetch_line(&outgoing_);
    prefetch_line(&receive_free_);
    prefetch_line(&mailbox());
  }

  /// When the port begins to receive a message that departed at `departure` from another rank.
  [[nodiscard]] double receive_start(double departure) const {
    return std::max(departure + machine().latency.value(), receive_free_);
  }
  /// When a message whose reception begins at `start` has been received.
  double receive(double start, Words words) {
    receive_free_ = start + occupancy(words);
    return receive_free_;
  }

  /// The time for which a message occupies a port.
  [[nodiscard]] double occupancy(Words words) const {
    return machine().gap.value() +
           machine().gap_per_word.value() * static_cast<double>(words.value());
  }

 private:
  EventQueue& departures_;
  OutgoingQueue outgoing_;
  std::unique_ptr<SharedSends> shared_;
  std::unique_ptr<std::deque<double>> posting_times_;  ///< only with a timeline
  double send_free_ = 0;
  double receive_free_ = 0;
};

/// The second strand of a rank, which uses the rank's ports.
class PortSecond final : public PortUser {
 public:
  PortSecond(PortRank& port, const LogGP& machine, EventLoop& loop)
      : PortUser(port.rank(), port.size(), machine, loop), port_(port) {}

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    prepare(to, message.words);
    return port_.post(Strand::second, clock_, to, tag, std::move(message));
  }

 private:
  PortRank& port_;
};

class AlphaBetaLoop final : public EventLoop {
 public:
  /// `timeline` may be nullptr.
  AlphaBetaLoop(int size, const LogGP& machine, Timeline* timeline)
      : machine_(machine), timeline_(timeline) {
    for (int rank = 0; rank < size; ++rank) {
      auto port = std::make_unique<PortRank>(Rank(rank), size, machine, *this, departures_);
      if (timeline_ != nullptr) {
        port->follow(timeline_->track(port->rank(), Strand::main));
        port->keep_posting_times();
      }
      ports_.push_back(port.get());
      ranks_.push_back(std::move(port));
    }
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    return timed_report();
  }

 protected:
  /// Takes out all departures of one lookahead: no message that departs at t can cause another one
  /// to depart before t + g, so these are known, and in order, before the first is handled. That
  /// leaves time to prefetch their data, which is out of cache by then.
  bool advance() override {
    batch_.clear();
    if (!departures_.pop_earliest(std::numeric_limits<double>::infinity(), batch_)) return false;
    const double horizon = batch_.front().time + machine_.gap.value();
    while (batch_.back().time < horizon &&
           departures_.pop_earliest(std::nextafter(horizon, 0.0), batch_)) {
    }
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      fetch_ahead(i);
      const Event departure = batch_[i];
      PortRank& sender = *ports_[departure.who];
      if (sender.shared()) {
        depart_shared(sender, departure.time);
        continue;
      }
      do {
        transmit_unshared(sender, departure.time, sender.depart());
      } while (sender.departs_at(departure.time));
    }
    return true;
  }

  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    PortRank& port = *ports_[static_cast<std::size_t>(rank.value())];
    port.share();
    auto second = std::make_unique<PortSecond>(port, machine_, *this);
    if (timeline_ != nullptr) second->follow(timeline_->track(rank, Strand::second));
    return second;
  }

 private:
  /// Each stage prefetches what the next one reads: the sender, its message, the receiver, the
  /// entry of its mailbox, the slot that waits there.
  void fetch_ahead(std::size_t i) const {
    constexpr std::size_t kStage = 3;
    const auto sender = [&](std::size_t stages) -> const PortRank* {
      const std::size_t at = i + stages * kStage;
      return at < batch_.size() ? ports_[batch_[at].who] : nullptr;
    };
    if (const PortRank* rank = sender(5)) rank->prefetch_ports();
    if (const PortRank* rank = sender(4)) prefetch_line(rank->next());
    const auto receiver = [&](const Outgoing& out) -> const PortRank& {
      return *ports_[static_cast<std::size_t>(out.to.value())];
    };
    if (const PortRank* rank = sender(3); rank != nullptr && rank->next() != nullptr) {
      receiver(*rank->next()).prefetch_ports();
    }
    if (const PortRank* rank = sender(2); rank != nullptr && rank->next() != nullptr) {
      const Outgoing& out = *rank->next();
      receiver(out).mailbox().prefetch(rank->rank(), out.tag);
    }
    if (const PortRank* rank = sender(1); rank != nullptr && rank->next() != nullptr) {
      const Outgoing& out = *rank->next();
      receiver(out).mailbox().prefetch_waiting(slots(), rank->rank(), out.tag);
    }
  }

  /// A message of a strand departs: the receive port takes it as soon as it is free.
  void transmit(PortRank& sender, Strand strand, double posted, double departure, Outgoing&& out) {
    PortRank& receiver = port_of(out.to);
    const double start = receiver.receive_start(departure);
    const double delivered = receiver.receive(start, out.message.words);
    if (timeline_ != nullptr) {
      timeline_->add({.from = sender.rank(),
                      .to = out.to,
                      .strand = strand,
                      .tag = out.tag,
                      .words = out.message.words,
                      .posted = Seconds(posted),
                      .send_begin = Seconds(departure),
                      .send_end = Seconds(departure + sender.occupancy(out.message.words)),
                      .receive_begin = Seconds(start),
                      .receive_end = Seconds(delivered)});
    }
    deliver(sender.rank(), out.to, strand, out.tag, std::move(out.message), delivered);
  }
  void transmit_unshared(PortRank& sender, double departure, Outgoing&& out) {
    const double posted = timeline_ != nullptr ? sender.take_posting_time() : 0;
    transmit(sender, Strand::main, posted, departure, std::move(out));
  }

  [[nodiscard]] PortRank& port_of(Rank rank) const {
    return *ports_[static_cast<std::size_t>(rank.value())];
  }

  void depart_shared(PortRank& sender, double time) {
    if (!sender.take_entry(time)) return;
    while (sender.next_departure() == time) {
      if (sender.has_unshared()) {
        transmit_unshared(sender, time, sender.depart_unshared());
        continue;
      }
      const Strand strand = sender.next_strand();
      Posted out = sender.depart_posted(time);
      const double posted = out.time;
      const auto send = out.send;
      transmit(sender, strand, posted, time, std::move(out));
      complete(sender.rank(), strand, send, sender.send_free());
    }
    sender.schedule();
  }

  EventQueue departures_;
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  std::vector<PortRank*> ports_;
  std::vector<Event> batch_;
  const LogGP& machine_;
  Timeline* timeline_;
};

}  // namespace

RunReport AlphaBetaNetwork::run(int ranks, const RankProgram& program) {
  return AlphaBetaLoop(ranks, machine_, timeline()).run(program);
}

}  // namespace thinwire::networks
