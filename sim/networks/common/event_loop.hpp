// What the networks with an event loop of their own share: a Communicator that parks its rank, and
// a loop that starts the ranks, hands messages over, wakes who has waited for them, and notices at
// the end who still waits.
#pragma once

#include <coroutine>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/communicator.hpp"
#include "sim/core/ledger.hpp"
#include "sim/core/network.hpp"
#include "sim/networks/common/mailbox.hpp"

namespace thinwire {

/// A rank of an event loop. `clock_` is the rank's own: it may run ahead of the others', because
/// what a rank does depends on nothing but the messages that it receives.
class LoopRank : public Communicator {
 public:
  LoopRank(Rank rank, int size, SlotPool& slots, PhaseNames& names)
      : Communicator(rank, size), slots_(slots), ledger_(names) {}

  [[nodiscard]] Request irecv(Rank from, Tag tag) override;

  /// Takes in a message that is complete at `stamp`; true when it was the last one that the rank
  /// waited for, so that the rank has to be resumed.
  [[nodiscard]] bool deliver(Rank from, Tag tag, Message&& message, double stamp);
  void resume() const { waiting_.resume(); }
  void prefetch_coroutine() const { __builtin_prefetch(waiting_.address()); }
  void close_books() { ledger_.close(now()); }

  [[nodiscard]] double clock() const { return clock_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const Mailbox& mailbox() const { return mailbox_; }
  /// The receives that a parked rank waits for.
  [[nodiscard]] std::vector<SlotIndex> missing() const;

 protected:
  bool complete(std::span<const Request> requests) override;
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override;
  Message finish(Request request) override;
  void enter_phase(std::string_view name) override { ledger_.enter(name, now()); }
  void leave_phase() noexcept override { ledger_.leave(now()); }

  /// A send is complete at a time that is known when it is posted: the token is that time.
  [[nodiscard]] static Request send_request(double complete_at);
  [[nodiscard]] static bool is_send(Request request);

  /// When the request is complete; for a receive, only once its message has arrived.
  [[nodiscard]] double stamp_of(Request request) const;

  void prefetch_mailbox() const { mailbox_.prefetch(); }
  Ledger& books() { return ledger_; }

  double clock_ = 0;

 private:
  SlotPool& slots_;
  Ledger ledger_;
  Mailbox mailbox_;
  std::coroutine_handle<> waiting_;
  std::span<const Request> awaited_;
  std::size_t pending_ = 0;
  double wake_ = 0;
};

class EventLoop {
 public:
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  EventLoop(EventLoop&&) = delete;
  EventLoop& operator=(EventLoop&&) = delete;
  virtual ~EventLoop() = default;

  /// Hands a message to a rank of this loop; the rank runs on when the loop comes to it.
  void deliver(Rank from, Rank to, Tag tag, Message&& message, double stamp);

 protected:
  /// Runs the program on all ranks to its end.
  void run(const RankProgram& program, std::span<const std::unique_ptr<LoopRank>> ranks);
  /// Moves the simulation on when no rank can run: delivers something, or says false.
  virtual bool advance() = 0;

  SlotPool& slots() { return slots_; }
  PhaseNames& names() { return names_; }

 private:
  void run_to_end(const RankProgram& program);
  void run_ready();
  void settle(std::size_t rank);
  [[noreturn]] void report_deadlock() const;
  void report_unmatched() const;

  SlotPool slots_;
  PhaseNames names_;
  std::span<const std::unique_ptr<LoopRank>> ranks_;
  std::vector<Task<void>> tasks_;
  std::vector<std::size_t> ready_;
  std::vector<std::size_t> resumed_;
  std::size_t running_ = 0;
};

}  // namespace thinwire
