// The Communicator of a SimGrid actor, and the actors of second strands.
#pragma once

#include <fmt/format.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/smpi/message_ends.hpp"

namespace thinwire::networks {

/// The state of matching for one kind of strand. Messages match only between strands of one kind.
struct Matching {
  explicit Matching(std::size_t ranks) : mailboxes(ranks), bells(ranks), ended(ranks) {}

  std::vector<Mailbox> mailboxes;  ///< by receiver
  std::vector<Bell> bells;         ///< by rank
  std::vector<bool> ended;         ///< by rank
};

/// A program started on a second strand.
struct Started {
  StartedProgram program;
  simgrid::s4u::SemaphorePtr done = simgrid::s4u::Semaphore::create(0);
  Message message = {};
  std::exception_ptr error = {};  ///< until it is rethrown
};

class SecondStrands;

/// The state shared by the ranks of one run.
struct Shared {
  Shared(double start, std::size_t ranks) : origin(start), matching{Matching(ranks), Matching(0)} {}

  double origin;  ///< SimGrid's clock when the run began
  SlotPool slots;
  PhaseNames names;
  std::array<Matching, 2> matching;  ///< by strand
  SecondStrands* seconds = nullptr;
  ShownMessages* shown = nullptr;  ///< null without a timeline
};

/// A length as MPI needs it: a number of bytes, or of units of 16 bytes if the number of bytes
/// exceeds an int. Receives are posted in units of 16 bytes, which also match sends in bytes.
struct MpiLength {
  int count;
  MPI_Datatype type;
};

inline MpiLength mpi_length(Words words) {
  const std::int64_t bytes = to_bytes(words).value();
  if (bytes == 0) return {kBytesOfEmpty, MPI_BYTE};
  if (bytes <= INT_MAX) return {static_cast<int>(bytes), MPI_BYTE};
  const std::int64_t units = (bytes + 15) / 16;
  if (units > INT_MAX) {
    throw SimulationError("a message of {} words is more than MPI can send at once ({} words)",
                          words.value(), 4 * std::int64_t{INT_MAX});
  }
  return {static_cast<int>(units), MPI_LONG_DOUBLE};
}

/// The Communicator of a rank that runs as an actor of SMPI.
class SmpiRank final : public Communicator {
 public:
  SmpiRank(Rank rank, int size, Shared& shared, Strand strand)
      : Communicator(rank, size), shared_(shared), strand_(strand), ledger_(shared.names) {
    if (shared_.shown == nullptr) return;
    ledger_.follow(shared_.shown->timeline().track(rank, strand));
  }

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    check_peer(*this, to);
    if (matching().ended[static_cast<std::size_t>(to.value())]) {  // SMPI would abort
      throw_unreceived(rank(), to, tag, message.words, strand_);
    }
    ledger_.sent(message.words);
    const Words words = message.words;
    const MpiLength length = mpi_length(words);
    // This comes before MPI_Issend, because the receiver may run before that call returns.
    const SlotIndex slot = matching().mailboxes[static_cast<std::size_t>(to.value())].arrive(
        shared_.slots, rank(), tag, std::move(message), 0);
    const std::size_t at = acquire({.peer = to, .tag = tag});
    Posted& posted = posted_[at];
    posted.end = {.sender = &bell_of(rank()), .receiver = &bell_of(to)};
    if (shared_.shown != nullptr && shared_.shown->shows(rank(), to)) {
      posted.end.shown = shared_.shown->sent({.from = rank(),
                                              .to = to,
                                              .strand = strand_,
                                              .tag = tag,
                                              .words = words,
                                              .posted = now()},
                                             slot != kNoSlot);
    }
    MPI_Issend(&posted.end, length.count, length.type, to.value(), tag.value(), MPI_COMM_WORLD,
               &posted.mpi);
    return Request{at};
  }

  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    check_peer(*this, from);
    Mailbox& mailbox = matching().mailboxes[static_cast<std::size_t>(rank().value())];
    const SlotIndex slot = mailbox.post(shared_.slots, from, tag, 0);
    if (shared_.shown != nullptr && shared_.shown->shows(from, rank()) &&
        shared_.slots[slot].arrived) {
      shared_.shown->receive_posted(from, rank(), strand_, tag, now());
    }
    const std::size_t at = acquire({.peer = from, .tag = tag, .slot = slot});
    MPI_Irecv(&nowhere_, INT_MAX, MPI_LONG_DOUBLE, from.value(), tag.value(), MPI_COMM_WORLD,
              &posted_[at].mpi);
    return Request{at};
  }

  [[nodiscard]] Seconds now() const override {
    return Seconds(simgrid::s4u::Engine::get_clock() - shared_.origin);
  }

  [[nodiscard]] Request start_work(Seconds work) override {
    check_work(work);
    const double end = simgrid::s4u::Engine::get_clock() + work.value();
    return Request{acquire({.peer = rank(), .tag = Tag(0), .work_end = end})};
  }

  void open_books() { ledger_.open(now()); }
  void close_books() { ledger_.close(now()); }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

  /// Appends the request that the strand is waiting for.
  void add_waits(std::vector<Waiting>& waits) const {
    if (awaited_ == nullptr) return;
    auto what = Waiting::For::message;
    if (awaited_->slot == kNoSlot) what = Waiting::For::taking;
    if (awaited_->started) what = Waiting::For::started;
    waits.push_back({.rank = rank(),
                     .peer = awaited_->peer,
                     .tag = awaited_->tag,
                     .what = what,
                     .strand = strand_});
  }

 protected:
  Request start_program(StartedProgram program) override;

  bool complete(std::span<const Request> requests) override {
    for (const Request request : requests) {
      Posted& posted = posted_[request.token];
      awaited_ = &posted;
      if (posted.started) {
        posted.started->done->acquire();
      } else if (posted.work_end) {
        simgrid::s4u::this_actor::sleep_until(*posted.work_end);
      } else {
        MPI_Wait(&posted.mpi, MPI_STATUS_IGNORE);
      }
      awaited_ = nullptr;
    }
    return true;
  }

  void park(std::span<const Request> /*requests*/, std::coroutine_handle<> /*waiting*/) override {
    std::terminate();  // complete() never returns false
  }

  /// A started program among the requests is waited for first. Of the messages that are
  /// complete when this is called, the first in the list is the first, whichever ended first.
  bool complete_any(const AnyOf& of) override {
    const std::span<const Request> requests = of.requests;
    std::vector<MPI_Request> messages;
    std::vector<std::size_t> places;  // of the messages
    std::optional<std::size_t> work;  // the place of the one that ends first
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Posted& posted = posted_[requests[i].token];
      if (posted.work_end) {
        if (!work || posted.work_end < posted_[requests[*work].token].work_end) work = i;
      } else if (posted.started || posted.mpi == MPI_REQUEST_NULL) {
        first_ = i;
        return complete(requests.subspan(i, 1));
      } else {
        messages.push_back(posted.mpi);
        places.push_back(i);
      }
    }
    if (messages.empty()) {
      first_ = work.value();
      return complete(requests.subspan(first_, 1));
    }
    awaited_ = &posted_[requests[places.front()].token];
    const int at = work ? first_before(*posted_[requests[*work].token].work_end, messages,
                                       std::ranges::lower_bound(places, *work) - places.begin())
                        : first_of(messages);
    awaited_ = nullptr;
    first_ = at == MPI_UNDEFINED ? *work : places[static_cast<std::size_t>(at)];
    if (at != MPI_UNDEFINED) {
      posted_[requests[first_].token].mpi = messages[static_cast<std::size_t>(at)];
    }
    return true;
  }
  std::size_t first_complete(const AnyOf& /*of*/) override { return first_; }

  Message finish(Request request) override {
    const SlotIndex slot = posted_[request.token].slot;
    const auto started = std::exchange(posted_[request.token].started, nullptr);
    free_.push_back(request.token);
    if (started) {
      if (started->error) std::rethrow_exception(std::exchange(started->error, nullptr));
      return std::move(started->message);
    }
    if (slot == kNoSlot) return {};
    Message message = std::move(shared_.slots[slot].message);
    shared_.slots.release(slot);
    ledger_.received(message.words);
    return message;
  }

  void spend(Seconds work) override {
    check_work(work);
    const Seconds begin = now();
    if (work.value() > 0) simgrid::s4u::this_actor::sleep_for(work.value());
    ledger_.worked(begin, now());
  }

  void enter_phase(std::string_view name) override { ledger_.enter(name, now()); }
  void leave_phase() noexcept override { ledger_.leave(now()); }

 private:
  struct Posted {
    Rank peer;
    Tag tag;
    SlotIndex slot = kNoSlot;  ///< for a receive
    MessageEnd end = {};       ///< for a send
    MPI_Request mpi = MPI_REQUEST_NULL;
    std::optional<double> work_end = {};  ///< on SimGrid's clock, for work
    std::shared_ptr<Started> started = {};
  };

  static void check_work(Seconds work) {
    if (work.value() >= 0 && std::isfinite(work.value())) return;
    throw SimulationError("local work must take a finite time that is not negative");
  }

  Matching& matching() { return shared_.matching[static_cast<std::size_t>(strand_)]; }
  Bell& bell_of(Rank rank) { return matching().bells[static_cast<std::size_t>(rank.value())]; }

  /// Waits for the first of `messages` and returns its position.
  static int first_of(std::vector<MPI_Request>& messages) {
    int at = MPI_UNDEFINED;
    MPI_Waitany(static_cast<int>(messages.size()), messages.data(), &at, MPI_STATUS_IGNORE);
    return at;
  }

  /// The same, or MPI_UNDEFINED if work that ends at `end` is the first. Of the messages that are
  /// complete at the same time, the first `preferred` ones come before the work.
  int first_before(double end, std::vector<MPI_Request>& messages, std::ptrdiff_t preferred) {
    const auto left = [end] { return Seconds(end - simgrid::s4u::Engine::get_clock()); };
    bool ended = left() <= Seconds(0);
    while (true) {
      const auto count = ended ? preferred : std::ssize(messages);
      int at = MPI_UNDEFINED;
      int complete = 0;
      if (count > 0) {
        MPI_Testany(static_cast<int>(count), messages.data(), &at, &complete, MPI_STATUS_IGNORE);
      }
      if (complete != 0) return at;
      if (ended) return MPI_UNDEFINED;
      // The clock may be a rounding error before the end after that time.
      ended = !bell_of(rank()).wait_for(left()) || left() <= Seconds(0);
    }
  }

  std::size_t acquire(Posted posted) {
    if (free_.empty()) {
      posted_.push_back(std::move(posted));
      return posted_.size() - 1;
    }
    const std::size_t at = free_.back();
    free_.pop_back();
    posted_[at] = std::move(posted);
    return at;
  }

  Shared& shared_;
  Strand strand_;
  Ledger ledger_;
  std::deque<Posted> posted_;  // a deque, so that elements stay valid while MPI uses them
  std::vector<std::size_t> free_;
  const Posted* awaited_ = nullptr;
  std::size_t first_ = 0;  ///< of a wait for the first of several requests
  char nowhere_ = 0;       // the buffer of receives
};

/// The second strands of a run, created when the first rank starts a program: one actor per rank,
/// on the rank's host, and an SMPI instance for them with its own MPI_COMM_WORLD.
class SecondStrands {
 public:
  SecondStrands(std::string instance, std::vector<simgrid::s4u::Host*> hosts, Shared& shared)
      : instance_(std::move(instance)), hosts_(std::move(hosts)), shared_(shared) {}

  /// Called by the actor of the rank.
  std::shared_ptr<Started> start(Rank rank, StartedProgram program) {
    if (strands_.empty()) make();
    One& strand = *strands_[static_cast<std::size_t>(rank.value())];
    strand.programs.push_back(std::make_shared<Started>(Started{.program = std::move(program)}));
    auto started = strand.programs.back();
    strand.work->release();
    return started;
  }

  /// Called by the actor of the rank when the rank's own program has ended.
  void close(Rank rank) {
    if (!strands_.empty()) strands_[static_cast<std::size_t>(rank.value())]->work->release();
  }

  void rethrow_unheard() const {
    for (const auto& failure : failures_) {
      if (failure->error) std::rethrow_exception(failure->error);
    }
  }

  void add_waits(std::size_t rank, std::vector<Waiting>& waits) const {
    if (!strands_.empty()) strands_[rank]->comm.add_waits(waits);
  }

  /// Adds the ledger of a rank's second strand.
  void add_to(std::size_t rank, RankReport& report) const {
    if (strands_.empty()) return;
    const One& strand = *strands_[rank];
    report.finished = std::max(report.finished, strand.ended);
    add_phases(report.by_phase, strand.comm.ledger().by_phase());
  }

 private:
  struct One {
    One(Rank rank, int size, Shared& shared) : comm(rank, size, shared, Strand::second) {}

    SmpiRank comm;
    std::deque<std::shared_ptr<Started>> programs = {};
    simgrid::s4u::SemaphorePtr work =
        simgrid::s4u::Semaphore::create(0);  ///< released for each program, and once at the end
    Seconds ended{};                         ///< end of the last program
  };

  void make() {
    const auto size = static_cast<int>(hosts_.size());
    auto& matching = shared_.matching[static_cast<std::size_t>(Strand::second)];
    matching = Matching(hosts_.size());
    // All strands must exist before the first actor starts, since other ranks may start programs
    // meanwhile.
    for (int rank = 0; rank < size; ++rank) {
      strands_.push_back(std::make_unique<One>(Rank(rank), size, shared_));
    }
    all_there_ = simgrid::s4u::Barrier::create(static_cast<unsigned>(size));
    SMPI_app_instance_register(instance_.c_str(), nullptr, size);
    const auto& main_ended = shared_.matching[static_cast<std::size_t>(Strand::main)].ended;
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      if (main_ended[rank]) strands_[rank]->work->release();
      const auto actor = simgrid::s4u::Actor::init(fmt::format("second{}", rank), hosts_[rank]);
      actor->set_property("instance_id", instance_);
      actor->set_property("rank", fmt::format("{}", rank));
      actor->start([this, rank] { serve(rank); });
    }
  }

  /// The body of the actor of a second strand.
  void serve(std::size_t rank) {
    MPI_Init(nullptr, nullptr);
    all_there_->wait();  // SMPI cannot send to a rank before its MPI_Init
    One& strand = *strands_[rank];
    for (strand.work->acquire(); !strand.programs.empty(); strand.work->acquire()) {
      const std::shared_ptr<Started> started = std::move(strand.programs.front());
      strand.programs.pop_front();
      strand.comm.open_books();
      try {
        Task<Message> task = started->program(strand.comm);
        task.start();
        started->message = task.result();
      } catch (const simgrid::ForcefulKillException&) {
        throw;  // a rank failed
      } catch (...) {
        started->error = std::current_exception();
        failures_.push_back(started);
      }
      started->program = nullptr;
      strand.comm.close_books();
      strand.ended = strand.comm.now();
      started->done->release();
    }
    shared_.matching[static_cast<std::size_t>(Strand::second)].ended[rank] = true;
    MPI_Finalize();
  }

  std::string instance_;
  std::vector<simgrid::s4u::Host*> hosts_;
  Shared& shared_;
  std::vector<std::unique_ptr<One>> strands_;  ///< by rank
  simgrid::s4u::BarrierPtr all_there_;
  std::vector<std::shared_ptr<Started>> failures_;
};

inline Request SmpiRank::start_program(StartedProgram program) {
  if (strand_ == Strand::second) throw_started_by_second(rank());
  auto started = shared_.seconds->start(rank(), std::move(program));
  return Request{acquire({.peer = rank(), .tag = Tag(0), .started = std::move(started)})};
}

}  // namespace thinwire::networks
