// The common part of the networks that have an event loop of their own: a Communicator that
// suspends its rank, and a loop that starts the ranks, delivers messages, resumes the ranks that
// wait for them, and detects a deadlock at the end.
#pragma once

#include <algorithm>
#include <bit>
#include <coroutine>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/exchanges.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

class EventLoop;

/// Two ranks between which a message goes.
struct Ends {
  Rank from;
  Rank to;
};

/// A strand of a rank in an event loop: the main strand or the second one. Its `clock_` may be
/// ahead of the clocks of other strands, because a strand depends only on the requests that it
/// waits for. What a message reads of it is in its first three cache lines.
class alignas(64) LoopRank : public Communicator {
 public:
  LoopRank(Rank rank, int size, EventLoop& loop, Strand strand);

  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  /// Takes the steps itself, and does not resume the rank for each; on the second strand the rank
  /// takes them.
  [[nodiscard]] Task<void> exchange(ExchangePart& part, Tag tag, int under_way) override;
  /// Has all rounds of all members taken together, where that can be; else takes them itself.
  [[nodiscard]] Task<void> rounds_among(Members members, const RoundsPart& part, Tag tag) override;
  /// Sends over the route between two other ranks. Only for few ranks that stand for all.
  [[nodiscard]] virtual Request isend_between(const Ends& /*ends*/, Rank to, Tag tag,
                                              Message message) {
    return isend(to, tag, std::move(message));
  }

  /// Delivers a message that is complete at `stamp`. Returns whether the strand must be resumed
  /// because this is the last message that it waited for.
  [[nodiscard]] bool deliver(Rank from, Tag tag, Message&& message, double stamp);
  /// Called when a slot is complete. Returns whether the strand must be resumed, because this is the
  /// last one that it waited for, or the first one of which any is enough.
  [[nodiscard]] bool wake(SlotIndex index);
  /// Runs the strand until it waits again. Returns false if it has ended instead.
  [[nodiscard]] bool resume() {
    if (in_exchange_ && !take_steps()) return true;
    in_exchange_ = false;
    std::exchange(waiting_, {}).resume();
    return static_cast<bool>(waiting_);
  }
  /// Whether the strand must be resumed at `time`, since it waits for the first of several requests
  /// and knew that one of them is complete then.
  [[nodiscard]] bool ring(double time);
  /// prefetch() prefetches the strand itself. prefetch_resumed() follows its pointers and
  /// prefetches what else resume() reads.
  void prefetch() const {
    const auto* lines = reinterpret_cast<const char*>(this);
    for (const int line : {0, 64, 128}) prefetch_line(lines + line);
  }
  void prefetch_resumed() const {
    const auto* frame = static_cast<const char*>(waiting_.address());
    for (const int line : {0, 64, 128, 192}) prefetch_line(frame + line);
    ledger_.prefetch();
    mailbox_.prefetch_next();
  }
  void prefetch_books() const { ledger_.prefetch(); }
  void close_books() { ledger_.close(now()); }
  /// Also reports the strand's activity to `track`; nullptr ends the reports.
  void follow(TimelineTrack* track) { ledger_.follow(track); }
  /// Parks an idle second strand: `waiting` is resumed when a program is started.
  void park_idle(std::coroutine_handle<> waiting);
  /// Begins a program on this second strand. The rank started the program at time `start`.
  void begin(double start);
  /// Begins a rank's own program, at time 0.
  void open_books() { ledger_.open(Seconds(0)); }

  [[nodiscard]] double clock() const { return clock_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] Mailbox& mailbox() { return mailbox_; }
  [[nodiscard]] const Mailbox& mailbox() const { return mailbox_; }
  /// Whether the strand waits for a step of an exchange.
  [[nodiscard]] bool is_in_exchange() const { return in_exchange_; }
  /// For a strand that does not run: whether its program has ended, and if not, whether it waits for the
  /// first of its requests.
  [[nodiscard]] bool has_ended() const { return !waiting_; }
  [[nodiscard]] bool waits_for_any() const { return waits_for_any_; }
  /// The time before which a strand that waits for all of its requests does not resume.
  /// `earliest(slot)` is this time for a request that is not complete.
  template <class Earliest>
  [[nodiscard]] double resumes_after(const Earliest& earliest) const {
    double last = clock_;
    for (const Request request : awaited_) {
      last = std::max(last, is_complete(request) ? stamp_of(request) : earliest(slot_of(request)));
    }
    return last;
  }
  /// Appends the requests, or the step of an exchange, that a parked rank waits for.
  void add_waits(std::vector<Waiting>& waits) const;

  /// Posts the first steps of an exchange.
  void post_first_steps(ExchangePart& part, Tag tag, int under_way);
  /// All steps have been taken of an exchange that the strand waits for.
  void leave_exchange() { in_exchange_ = false; }

 protected:
  Request start_program(StartedProgram program) override;
  bool complete(std::span<const Request> requests) override;
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override;
  void watch(Request request) override;
  bool complete_any(const AnyOf& of) override;
  void park_any(const AnyOf& of, std::coroutine_handle<> waiting) override;
  std::size_t first_complete(const AnyOf& of) override;
  Message finish(Request request) override;

  /// Whether a message of an exchange may depart before its receiver posts the step.
  [[nodiscard]] virtual bool departs_early() const = 0;
  /// Sends a message in the step of an exchange that the rank posts.
  virtual void send_in_step(Rank to, const Exchanges::OfRank& own, Message&& message) = 0;
  /// Lets a message depart that the rank's receive was waited for, in a step of an exchange.
  virtual void release_held(TransferIndex held) = 0;
  /// Called when a message of `words`, complete at `stamp`, has been received.
  virtual void take_in(Words words, double stamp) = 0;
  void enter_phase(std::string_view name) override;
  void leave_phase() noexcept override { ledger_.leave(now()); }

  /// The request of a send whose completion time is known when the send is posted. The token
  /// contains this time.
  [[nodiscard]] static Request timed_request(double complete_at) {
    return Request{std::bit_cast<std::uint64_t>(complete_at)};
  }
  /// The request of a send or a started program that EventLoop::complete() completes.
  [[nodiscard]] static Request slot_request(SlotIndex slot) {
    return Request{kSlotBit | kNoReceiveBit | slot};
  }
  /// The request of what EventLoop::complete() completes with a message.
  [[nodiscard]] static Request receive_request(SlotIndex slot) { return Request{kSlotBit | slot}; }
  [[nodiscard]] static bool is_receive(Request request) {
    return (request.token & (kSlotBit | kNoReceiveBit)) == kSlotBit;
  }
  /// The slot of a request whose token is not a time.
  [[nodiscard]] static SlotIndex slot_of(Request request) {
    return static_cast<SlotIndex>(request.token);
  }

  /// The completion time of a request. A request with a slot has one once it is complete.
  [[nodiscard]] double stamp_of(Request request) const;

  Ledger& books() { return ledger_; }
  [[nodiscard]] SlotPool& slots() const { return slots_; }
  [[nodiscard]] EventLoop& loop() const { return loop_; }

  [[nodiscard]] Strand strand() const { return strand_; }

  double clock_ = 0;

 private:
  /// The awaiter of an exchange.
  struct Steps {
    LoopRank& rank;
    ExchangePart& part;
    Tag tag;
    int under_way;
    [[nodiscard]] bool await_ready() const { return rank.begin_exchange(part, tag, under_way); }
    void await_suspend(std::coroutine_handle<> waiting) const { rank.park_exchange(waiting); }
    void await_resume() const {}
  };
  /// The awaiter of rounds that are taken together with the rounds of other ranks, or not at all.
  struct JointTurn {
    LoopRank& rank;
    Members members;
    const RoundsPart& part;
    Tag tag;
    bool taken = false;  ///< whether they have been taken, when the rank goes on
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> waiting) const { rank.park_idle(waiting); }
    [[nodiscard]] bool await_resume() const { return taken; }
  };
  [[nodiscard]] Task<void> take_all_steps(ExchangePart& part, Tag tag, int under_way);
  /// Begins an exchange. Returns whether it is over.
  bool begin_exchange(ExchangePart& part, Tag tag, int under_way);
  void park_exchange(std::coroutine_handle<> waiting);
  /// Takes the steps of an exchange until one of them must be waited for. Returns whether the
  /// exchange is over.
  bool take_steps();
  void post_step(Exchanges::OfRank& own);

  // Times are never negative, so the sign bit of a token distinguishes a slot from a time.
  static constexpr std::uint64_t kSlotBit = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kNoReceiveBit = std::uint64_t{1} << 62U;
  [[nodiscard]] static bool is_timed(Request request) { return (request.token & kSlotBit) == 0; }

  [[nodiscard]] bool is_complete(Request request) const {
    return is_timed(request) || slots_[slot_of(request)].arrived;
  }

  /// Has ring(time) called at `time`, when one of several requests is complete.
  void ring_at(double time);
  /// Called when what the strand waits for is complete at `stamp`.
  [[nodiscard]] bool wake_at(double stamp);
  /// Whether what is complete at alarm_ is complete now.
  [[nodiscard]] bool is_first() const;

  /// The position of the request that is complete first. The strand no longer waits for the others.
  [[nodiscard]] std::size_t first_of(std::span<const Request> requests);
  /// The same of requests that are watched. It is taken out of done_.
  [[nodiscard]] std::size_t take_first_done(std::span<const Request> requests);

  /// A watched request that is complete.
  struct Done {
    double stamp;
    SlotIndex slot;  ///< kNoSlot: of a request whose token is its stamp
  };

  Strand strand_;
  bool waits_for_any_ = false;  ///< for the first of its requests, not for all
  bool in_exchange_ = false;    ///< and waits for a step of it
  std::uint32_t pending_ = 0;
  EventLoop& loop_;
  SlotPool& slots_;
  std::coroutine_handle<> waiting_;
  double wake_ = 0;
  // The second cache line begins here. It ends with what a message reads of the ledger.
  Mailbox mailbox_;
  Ledger ledger_;
  std::span<const Request> awaited_;
  double before_ = 0;  ///< the clock when a wait for the first of several requests began
  double alarm_ = std::numeric_limits<double>::infinity();  ///< see ring()
  std::vector<Done> done_;                                  ///< watched, complete, and not finished
};

/// A strand whose clock advances with local work.
class TimedRank : public LoopRank {
 public:
  using LoopRank::LoopRank;
  [[nodiscard]] Seconds now() const override { return Seconds(clock_); }
  [[nodiscard]] Request start_work(Seconds work) override;

 protected:
  void spend(Seconds work) override;
};

/// An event loop that handles events, and resumes ranks, in the order of simulated time.
class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  virtual ~EventLoop();

  /// Delivers a message that is complete at `stamp`. The receiver's strand is of the same kind
  /// (main or second) as the sender's. If it waits for the message, the loop resumes it later.
  void deliver(Rank from, Rank to, Strand strand, Tag tag, Message&& message, double stamp);
  /// Where messages to a strand of a rank, from strands of the same kind, meet their receives.
  Mailbox& mailbox(Rank to, Strand strand) { return strand_of(to, strand).mailbox(); }
  /// Completes a send, a started program or a matched receive of a strand at `stamp`.
  void complete(Rank rank, Strand strand, SlotIndex slot, double stamp);

  /// Resumes a rank that waits for a step of an exchange.
  void go_on(Rank rank) {
    const std::size_t at = index_of(rank, Strand::main);
    if (strands_[at]->is_in_exchange()) ready_.push_back(at);
  }
  /// Resumes a rank all of whose steps of an exchange have been taken.
  void leave_exchange(Rank rank) {
    const std::size_t at = index_of(rank, Strand::main);
    strands_[at]->leave_exchange();
    ready_.push_back(at);
  }
  /// Resumes a rank that waits for nothing.
  void resume_main(Rank rank) { ready_.push_back(index_of(rank, Strand::main)); }
  Exchanges& exchanges() { return exchanges_; }
  [[nodiscard]] const Exchanges& exchanges() const { return exchanges_; }

  /// Resumes a strand at `time` if it waits for the first of several requests, one of which is
  /// complete then. `strand` is the index that wake_at() was given.
  void ring(std::size_t strand, double time) {
    if (strands_[strand]->ring(time)) ready_.push_back(strand);
  }

  /// Prefetches what complete() reads of a strand.
  void prefetch(Rank rank, Strand strand) const { strands_[index_of(rank, strand)]->prefetch(); }
  /// Prefetches what a strand reads when it is resumed. To be called some time after prefetch(),
  /// whose data it reads.
  void prefetch_resumed(Rank rank, Strand strand) const {
    strands_[index_of(rank, strand)]->prefetch_resumed();
  }
  /// The same of a rank that goes on in an exchange.
  void prefetch_books(Rank rank) const { strands_[index_of(rank, Strand::main)]->prefetch_books(); }

  [[nodiscard]] const LoopRank& main_strand(Rank rank) const {
    return *strands_[index_of(rank, Strand::main)];
  }
  /// Whether a program runs on the second strand of a rank.
  [[nodiscard]] bool runs_second(Rank rank) const { return !seconds_.empty() && has_started(rank); }

  SlotPool& slots() { return slots_; }
  [[nodiscard]] const SlotPool& slots() const { return slots_; }
  PhaseNames& names() { return names_; }

  /// As Network::give_up_after().
  void give_up_after(Seconds limit) { limit_ = limit.value(); }

 protected:
  /// Runs the program on all ranks to its end.
  void run(const RankProgram& program, std::span<const std::unique_ptr<LoopRank>> ranks);
  /// Handles the next events. Called when no rank can run. Returns false if there are no events.
  virtual bool advance() = 0;
  /// The time until which all events have been handled; infinite without a clock.
  [[nodiscard]] virtual double handled() const { return std::numeric_limits<double>::infinity(); }
  /// Whether messages may move the clock of a strand beyond handled().
  [[nodiscard]] virtual bool strands_run_ahead() const { return false; }
  /// Has ring(strand, time) called at `time`, which is after handled().
  virtual void wake_at(double /*time*/, std::size_t /*strand*/) {}
  /// Whether the steps of an exchange that a rank comes to are taken by the loop, for all ranks at once.
  virtual bool joins_exchange(LoopRank& /*rank*/, ExchangePart& /*part*/, Tag /*tag*/,
                              int /*under_way*/) {
    return false;
  }
  /// Whether a rank waits until all members have come to these rounds. It then goes on, and `taken`
  /// says whether all their rounds have been taken.
  virtual bool joins_rounds(LoopRank& /*rank*/, const Members& /*members*/,
                            const RoundsPart& /*part*/, Tag /*tag*/, bool& /*taken*/) {
    return false;
  }
  /// Creates the second strand of a rank, when the rank first starts a program or the second strand
  /// of another rank first sends to it.
  virtual std::unique_ptr<LoopRank> make_second(Rank rank) = 0;

  /// The clock of the strand that ended last.
  [[nodiscard]] double end_of(std::size_t rank) const;
  /// The traffic of both strands.
  [[nodiscard]] std::vector<Traffic> traffic_of(std::size_t rank) const;
  /// The report of a completed run, for networks whose clocks are in seconds.
  [[nodiscard]] RunReport timed_report() const;

 private:
  friend class LoopRank;
  struct Second;
  class NextProgram;

  /// The index of a strand in strands_.
  [[nodiscard]] std::size_t index_of(Rank rank, Strand strand) const {
    return static_cast<std::size_t>(rank.value()) + (strand == Strand::main ? 0 : size_);
  }
  void run_to_end(const RankProgram& program);
  void run_ready();
  void end_if_done(std::size_t at);
  void end_all();

  /// The second strand of a rank; nullptr if it does not exist.
  [[nodiscard]] const LoopRank* second(std::size_t rank) const {
    return strands_.size() == size_ ? nullptr : strands_[size_ + rank];
  }
  /// The same, created if it does not exist.
  Second& second_of(Rank rank);
  LoopRank& strand_of(Rank rank, Strand strand) {
    return strand == Strand::main ? *strands_[index_of(rank, strand)] : second_strand_of(rank);
  }
  LoopRank& second_strand_of(Rank rank);
  [[nodiscard]] bool has_started(Rank rank) const;
  SlotIndex start(LoopRank& from, StartedProgram program);
  Task<void> serve(Second& second);
  void note_phase(std::string_view name, double now);
  void put_phases_in_order(RunReport& report) const;
  void rethrow_failure(SlotIndex slot);
  void rethrow_unheard() const;

  [[noreturn]] void report_deadlock() const;
  void report_unmatched() const;

  SlotPool slots_;
  Exchanges exchanges_;
  PhaseNames names_;
  std::vector<double> phases_begin_;  ///< when a strand first enters a phase, by phase
  std::vector<LoopRank*> strands_;    ///< by rank; followed by the second strands, once one exists
  std::size_t size_ = 0;
  std::vector<Task<void>> tasks_;                 ///< by rank
  std::vector<std::unique_ptr<Second>> seconds_;  ///< by rank; empty until a program is started
  std::vector<std::pair<SlotIndex, std::exception_ptr>>
      failures_;                    ///< of started programs, until they are waited for
  std::vector<std::size_t> ready_;  ///< indexes into strands_
  std::vector<std::size_t> resumed_;
  std::size_t running_ = 0;  ///< number of running programs, both of ranks and started ones
  double limit_ = std::numeric_limits<double>::infinity();
};

}  // namespace thinwire::networks
