#include "sim/networks/alphabeta/alphabeta.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/errors.hpp"
#include "sim/networks/alphabeta/departures.hpp"
#include "sim/networks/common/complaints.hpp"
#include "sim/networks/common/event_loop.hpp"

namespace thinwire {

namespace {

/// A message that was posted and has not departed yet.
struct Outgoing {
  double departure;
  Rank to;
  Tag tag;
  Message message;
};

/// First in, first out, in one block of memory that is used again.
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

class PortRank final : public LoopRank {
 public:
  PortRank(Rank rank, int size, const LogGP& machine, SlotPool& slots, PhaseNames& names,
           Departures& departures)
      : LoopRank(rank, size, slots, names), machine_(machine), departures_(departures) {}

  [[nodiscard]] Seconds now() const override { return Seconds(clock_); }

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    check_peer(*this, to);
    clock_ += machine_.overhead.value();
    books().sent(message.words);
    const double departure = std::max(clock_, send_free_);
    send_free_ = departure + occupancy(message.words);
    if (outgoing_.empty()) departures_.push(departure, static_cast<std::uint32_t>(rank().value()));
    outgoing_.push({departure, to, tag, std::move(message)});
    return send_request(send_free_);
  }

  /// The message at the head of the send port departs. The next one is queued, unless it departs at
  /// the same time (g = 0 and no words): then it is to be taken before any other rank's.
  Outgoing depart() {
    Outgoing message = outgoing_.pop();
    if (!outgoing_.empty() && !departs_at(message.departure)) {
      departures_.push(outgoing_.front().departure, static_cast<std::uint32_t>(rank().value()));
    }
    return message;
  }

  [[nodiscard]] bool departs_at(double time) const {
    return !outgoing_.empty() && outgoing_.front().departure == time;
  }
  [[nodiscard]] Rank next_receiver() const { return outgoing_.front().to; }
  void prefetch_sender() const { __builtin_prefetch(&outgoing_.front()); }
  void prefetch_receiver() const {
    __builtin_prefetch(&receive_free_);
    prefetch_mailbox();
  }

  /// When a message that departed at `departure` from another rank has been received here.
  double receive(double departure, Words words) {
    const double start = std::max(departure + machine_.latency.value(), receive_free_);
    receive_free_ = start + occupancy(words);
    return receive_free_;
  }

 protected:
  Message finish(Request request) override {
    if (!is_send(request)) clock_ += machine_.overhead.value();
    return LoopRank::finish(request);
  }

  void spend(Seconds work) override {
    if (!(work.value() >= 0) || !std::isfinite(work.value())) {
      throw SimulationError("local work must take a finite time that is not negative");
    }
    clock_ += work.value();
  }

 private:
  [[nodiscard]] double occupancy(Words words) const {
    return machine_.gap.value() +
           machine_.gap_per_word.value() * static_cast<double>(words.value());
  }

  const LogGP& machine_;
  Departures& departures_;
  OutgoingQueue outgoing_;
  double send_free_ = 0;
  double receive_free_ = 0;
};

class AlphaBetaLoop final : public EventLoop {
 public:
  AlphaBetaLoop(int size, const LogGP& machine) : machine_(machine) {
    for (int rank = 0; rank < size; ++rank) {
      auto port =
          std::make_unique<PortRank>(Rank(rank), size, machine, slots(), names(), departures_);
      ports_.push_back(port.get());
      ranks_.push_back(std::move(port));
    }
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    RunReport report{.phases = names().all(), .ranks = {}};
    for (const PortRank* port : ports_) {
      report.ranks.push_back({.finished = port->now(), .by_phase = port->ledger().by_phase()});
    }
    return report;
  }

 protected:
  /// Takes out all departures of one lookahead: no message that departs at t can cause another
  /// one to depart before t + g, so these are known, and in order, before the first is handled.
  /// That leaves time to fetch what each of them will touch, which is in no cache by then.
  bool advance() override {
    batch_.clear();
    if (!departures_.pop_earliest(std::numeric_limits<double>::infinity(), batch_)) return false;
    const double horizon = batch_.front().time + machine_.gap.value();
    while (batch_.back().time < horizon &&
           departures_.pop_earliest(std::nextafter(horizon, 0.0), batch_)) {
    }
    constexpr std::size_t kAhead = 4;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (i + 2 * kAhead < batch_.size()) ports_[batch_[i + 2 * kAhead].rank]->prefetch_sender();
      if (i + kAhead < batch_.size()) {
        const PortRank& sender = *ports_[batch_[i + kAhead].rank];
        ports_[static_cast<std::size_t>(sender.next_receiver().value())]->prefetch_receiver();
      }
      const Departure departure = batch_[i];
      do {
        Outgoing out = ports_[departure.rank]->depart();
        const auto receiver = static_cast<std::size_t>(out.to.value());
        const double delivered = ports_[receiver]->receive(departure.time, out.message.words);
        deliver(Rank(static_cast<std::int32_t>(departure.rank)), out.to, out.tag,
                std::move(out.message), delivered);
      } while (ports_[departure.rank]->departs_at(departure.time));
    }
    return true;
  }

 private:
  Departures departures_;
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  std::vector<PortRank*> ports_;
  std::vector<Departure> batch_;
  const LogGP& machine_;
};

}  // namespace

RunReport AlphaBetaNetwork::run(int ranks, const RankProgram& program) {
  return AlphaBetaLoop(ranks, machine_).run(program);
}

}  // namespace thinwire
