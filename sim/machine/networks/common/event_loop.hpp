// What the networks with an event loop of their own share: a Communicator that parks its rank, and
// a loop that starts the ranks, hands messages over, wakes who has waited for them, and notices at
// the end who still waits.
#pragma once

#include <bit>
#include <coroutine>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

class EventLoop;

/// A rank of an event loop, or its second strand. `clock_` is the strand's own: it may run ahead of
/// the others', because what a strand does depends on nothing but what it waits for.
class LoopRank : public Communicator {
 public:
  LoopRank(Rank rank, int size, EventLoop& loop);

  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  void expect(Request request) const override {
    if (!is_timed(request)) slots_.prefetch(slot_of(request));
  }

  /// Takes in a message that is complete at `stamp`; true when it was the last one that the rank
  /// waited for, so that the rank has to be resumed.
  [[nodiscard]] bool deliver(Rank from, Tag tag, Message&& message, double stamp);
  /// Takes in a message that is on its way: it is matched now and complete later.
  [[nodiscard]] Match match(Rank from, Tag tag, Message&& message, TransferIndex transfer) {
    return mailbox_.send(slots_, from, tag, std::move(message), transfer);
  }
  /// The same as deliver() for a slot that is known already, and complete at `stamp`.
  [[nodiscard]] bool complete_slot(SlotIndex index, double stamp);
  void resume() const { waiting_.resume(); }
  /// Fetches what a rank touches that is resumed soon: first itself, then what it points to.
  void prefetch() const {
    prefetch_line(&waiting_);
    prefetch_line(&mailbox_);
  }
  void prefetch_resumed() const {
    const auto* frame = static_cast<const char*>(waiting_.address());
    for (const int line : {0, 64, 128, 192}) prefetch_line(frame + line);
    mailbox_.prefetch_posted();
  }
  void close_books() { ledger_.close(now()); }
  /// Tells `track` what the strand does; nullptr: nobody.
  void follow(TimelineTrack* track) { ledger_.follow(track); }
  /// Of a second strand that has nothing to do: `waiting` goes on when something is started.
  void park_idle(std::coroutine_handle<> waiting);
  /// Of a second strand: what runs next was started at `start`.
  void begin(double start);
  /// Of a rank's own program, which begins at 0.
  void open_books() { ledger_.open(Seconds(0)); }

  [[nodiscard]] double clock() const { return clock_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const Mailbox& mailbox() const { return mailbox_; }
  /// Adds what a parked rank waits for.
  void add_waits(std::vector<Waiting>& waits, Strand strand) const;

 protected:
  Request start_program(StartedProgram program) override;
  bool complete(std::span<const Request> requests) override;
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override;
  Message finish(Request request) override;
  void enter_phase(std::string_view name) override { ledger_.enter(name, now()); }
  void leave_phase() noexcept override { ledger_.leave(now()); }

  /// Of a send that is complete at a time that is known when it is posted: the token is that time.
  [[nodiscard]] static Request timed_request(double complete_at) {
    return Request{std::bit_cast<std::uint64_t>(complete_at)};
  }
  /// Of what is no receive, and complete when complete_slot() says so.
  [[nodiscard]] static Request slot_request(SlotIndex slot) {
    return Request{kSlotBit | kNoReceiveBit | slot};
  }
  [[nodiscard]] static bool is_receive(Request request) {
    return (request.token & (kSlotBit | kNoReceiveBit)) == kSlotBit;
  }
  /// Of a request that is no time.
  [[nodiscard]] static SlotIndex slot_of(Request request) {
    return static_cast<SlotIndex>(request.token);
  }

  /// When the request is complete; where that was not known at first, only once it is.
  [[nodiscard]] double stamp_of(Request request) const;

  Ledger& books() { return ledger_; }
  [[nodiscard]] SlotPool& slots() const { return slots_; }
  [[nodiscard]] EventLoop& loop() const { return loop_; }

  double clock_ = 0;

 private:
  // Times are never negative, so the sign bit of a token that is a time is free to mark a slot.
  static constexpr std::uint64_t kSlotBit = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kNoReceiveBit = std::uint64_t{1} << 62U;
  [[nodiscard]] static bool is_timed(Request request) { return (request.token & kSlotBit) == 0; }

  /// Whether the rank is to be resumed, now that the slot is complete.
  [[nodiscard]] bool wakes(SlotIndex index);

  EventLoop& loop_;
  SlotPool& slots_;
  Ledger ledger_;
  Mailbox mailbox_;
  std::coroutine_handle<> waiting_;
  std::span<const Request> awaited_;
  std::size_t pending_ = 0;
  double wake_ = 0;
};

/// A rank, or its second strand, whose clock goes on with local work.
class TimedRank : public LoopRank {
 public:
  using LoopRank::LoopRank;
  [[nodiscard]] Seconds now() const override { return Seconds(clock_); }

 protected:
  void spend(Seconds work) override;
};

/// Resumes ranks in the order of simulated time.
class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  EventLoop(EventLoop&&) = delete;
  EventLoop& operator=(EventLoop&&) = delete;
  virtual ~EventLoop();

  /// Hands a message to a rank of this loop; the rank runs on when the loop comes to it.
  void deliver(Rank from, Rank to, Tag tag, Message&& message, double stamp);
  /// Matches a message that is posted now with its receive, which is complete when complete() says
  /// so. Returns the slot that the two have in common, and whether the receive is posted already.
  Match match(Rank from, Rank to, Strand strand, Tag tag, Message&& message,
              TransferIndex transfer);
  /// The same from a second strand to another.
  void deliver_to_second(Rank from, Rank to, Tag tag, Message&& message, double stamp);
  /// What a strand may wait for, and is no receive, is complete at `stamp`.
  void complete(Rank rank, Strand strand, SlotIndex slot, double stamp);

  /// Fetches what complete() touches of a strand.
  void prefetch(Rank rank, Strand strand) const { strands_[place_of(rank, strand)]->prefetch(); }

  SlotPool& slots() { return slots_; }
  [[nodiscard]] const SlotPool& slots() const { return slots_; }
  PhaseNames& names() { return names_; }

 protected:
  /// Runs the program on all ranks to its end.
  void run(const RankProgram& program, std::span<const std::unique_ptr<LoopRank>> ranks);
  /// Moves the simulation on when no rank can run: delivers something, or says false.
  virtual bool advance() = 0;
  /// The Communicator of a rank's second strand: made when the rank first starts something, or is
  /// sent something by what another one has started.
  virtual std::unique_ptr<LoopRank> make_second(Rank rank) = 0;

  /// The clock of the strand that ended last.
  [[nodiscard]] double end_of(std::size_t rank) const;
  /// What both strands have booked.
  [[nodiscard]] std::vector<Traffic> traffic_of(std::size_t rank) const;
  /// Of a run that has ended, on a network whose clocks are seconds.
  [[nodiscard]] RunReport timed_report() const;

 private:
  friend class LoopRank;
  struct Second;
  class NextProgram;

  /// In strands_.
  [[nodiscard]] std::size_t place_of(Rank rank, Strand strand) const {
    return static_cast<std::size_t>(rank.value()) + (strand == Strand::main ? 0 : size_);
  }
  void run_to_end(const RankProgram& program);
  void run_ready();
  void settle(std::size_t at);
  void end_all();

  Second& second_of(Rank rank);
  SlotIndex start(LoopRank& from, StartedProgram program);
  Task<void> serve(Second& second);
  void rethrow_failure(SlotIndex slot);
  void rethrow_unheard() const;

  [[noreturn]] void report_deadlock() const;
  void report_unmatched() const;

  SlotPool slots_;
  PhaseNames names_;
  std::vector<LoopRank*> strands_;  ///< the ranks, and once something is started their second ones
  std::size_t size_ = 0;
  std::vector<Task<void>> tasks_;                 ///< by rank
  std::vector<std::unique_ptr<Second>> seconds_;  ///< by rank; empty as long as nothing is started
  std::vector<std::pair<SlotIndex, std::exception_ptr>> failures_;  ///< that nobody has heard yet
  std::vector<std::size_t> ready_;                                  ///< in strands_
  std::vector<std::size_t> resumed_;
  std::size_t running_ = 0;  ///< programs, of ranks and started ones
};

}  // namespace thinwire::networks
