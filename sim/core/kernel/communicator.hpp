// The Communicator: the only view of a network that a scheme has.
//
// Posting (isend, irecv) and reading the clock never wait, so they are plain calls. The operations
// that may wait (wait, wait_all, sendrecv, compute) are plain awaiters, not tasks. A network that
// can block its caller (SMPI) does so inside await_ready, so the coroutine is never suspended. An
// event loop stores the coroutine handle, and resumes it when the last of the awaited requests is
// complete.
//
// A rank has a second strand, like a progress thread or NCCL's communication stream. A program
// started there runs concurrently with the rank's own program and has a Communicator of its own.
// The two strands share the rank's ports. Each strand has its own clock, and local work on one
// strand does not delay the other.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/core/kernel/in_switches.hpp"
#include "sim/core/kernel/message.hpp"
#include "sim/core/kernel/rounds.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::inline kernel {

/// Identifies a posted send or receive, or a started program, until a strand has waited for it.
/// Only the network that issued a request interprets it, and only the strand that posted it may
/// wait for it.
struct Request {
  std::uint64_t token = 0;
};

/// The strands of a rank: its own program, and the programs that it has started.
enum class Strand : std::uint8_t { main, second };

class Communicator;
/// Creates the coroutine of a started program. Called when the second strand begins the program.
using StartedProgram = std::function<Task<Message>(Communicator& strand)>;

/// The operations of one strand of one rank on a network.
class Communicator {
 public:
  Communicator(Rank rank, int size) : rank_(rank), size_(size) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] Rank rank() const { return rank_; }
  /// P, the number of ranks.
  [[nodiscard]] int size() const { return size_; }
  /// The ranks of this communicator in the numbers of the network, like
  /// MPI_Group_translate_ranks().
  [[nodiscard]] virtual Members members() const {
    return {.first = 0, .count = size_, .stride = 1};
  }

  /// Posts a send. Messages with the same sender, receiver and tag are received in the order in
  /// which they were posted.
  [[nodiscard]] virtual Request isend(Rank to, Tag tag, Message message) = 0;
  /// Posts a receive from one rank; there is no wildcard.
  [[nodiscard]] virtual Request irecv(Rank from, Tag tag) = 0;
  /// Starts `program` on the second strand and returns at once. The program takes the second
  /// strand's Communicator and returns a Task<Message> or a Task<void>. The strand runs the started
  /// programs in order, one at a time. Its messages match only messages of the other ranks' second
  /// strands. Waiting for the request returns the program's Message, advances the clock to the end
  /// of the program if that is later, and rethrows the program's exception. A rank need not wait: a
  /// run ends when all started programs have ended, and it fails if a program threw an exception
  /// that no wait has rethrown. `program` is stored until it has ended; whatever it refers to must
  /// live as long.
  template <class Program>
  [[nodiscard]] Request start(Program program);
  /// Begins local work of `work` seconds on a processor of its own, and returns at once. Waiting for
  /// the request advances the clock to the end of the work. A network that simulates no work of this
  /// kind throws SimulationError.
  [[nodiscard]] virtual Request start_work(Seconds /*work*/) { refuse("work beside a strand"); }
  /// Posts this rank's part of a collective that switches compute, among `members` of the ranks. The
  /// request completes like a receive, with the rank's result. Throws SimulationError where the
  /// network has no such switches between these ranks.
  [[nodiscard]] virtual Request post_in_switches(const Members& /*members*/, InSwitches /*part*/) {
    refuse("switches that sum");
  }
  /// The same among all ranks of the communicator.
  [[nodiscard]] Request in_switches(InSwitches part) {
    return post_in_switches({.first = 0, .count = size_, .stride = 1}, std::move(part));
  }
  /// Seconds since the ranks started together (0 on a network without a clock).
  [[nodiscard]] virtual Seconds now() const = 0;
  /// Announces that from now on each wait_watched() is for this request too, until it is complete.
  /// Requests are watched once.
  virtual void watch(Request /*request*/) {}
  /// A rotated exchange with all other ranks (peers_in_step()), which all ranks call. Up to
  /// `under_way` steps are under way at once, at least 1. The rank waits for the message of the
  /// oldest step, and for its send. It then posts the next step, and processes the message
  /// meanwhile. With one step under way, it processes the message before it posts the next step. What
  /// `part` throws ends the run.
  ///
  /// This default is made of isend(), irecv() and wait(). A network with thousands of ranks in one
  /// thread takes the steps itself, with the same times.
  [[nodiscard]] virtual Task<void> exchange(ExchangePart& part, Tag tag, int under_way);
  /// An exchange by doubling among `members` of the ranks, a power of two, of which this is one. In
  /// each step the members whose numbers among them differ in one bit exchange what they hold, the
  /// lowest bit first. All members call it.
  [[nodiscard]] virtual Task<void> double_among(Members members, DoublingPart& part, Tag tag);
  /// The same among all ranks of the communicator.
  [[nodiscard]] Task<void> exchange_by_doubling(DoublingPart& part, Tag tag) {
    return double_among({.first = 0, .count = size_, .stride = 1}, part, tag);
  }
  /// Rounds among `members` of the ranks, of which this is one. All members call it with equal parts.
  /// `part` outlives them.
  ///
  /// This default is made of sendrecv() and compute(). A network may take all rounds of all members at
  /// once, with the same times.
  [[nodiscard]] virtual Task<void> rounds_among(Members members, const RoundsPart& part, Tag tag);
  /// The same among all ranks of the communicator.
  [[nodiscard]] Task<void> take_rounds(const RoundsPart& part, Tag tag) {
    return rounds_among({.first = 0, .count = size_, .stride = 1}, part, tag);
  }

  class WaitAwaiter;
  class WaitAllAwaiter;
  class WaitAnyAwaiter;
  class SendrecvAwaiter;
  class ComputeAwaiter;
  class PhaseScope;

  /// co_await returns the Message of a receive or of a started program, and an empty Message for a
  /// send. A strand waits for each request once.
  [[nodiscard]] WaitAwaiter wait(Request request);
  /// co_await returns the Messages in the order of `requests`, which must outlive the expression.
  [[nodiscard]] WaitAllAwaiter wait_all(std::span<const Request> requests);
  /// co_await returns the position of the request that completes first, and its Message. The others
  /// remain to be waited for. Of several that are complete at the same time it is the first.
  /// `requests`, at least one, must outlive the expression.
  [[nodiscard]] WaitAnyAwaiter wait_any(std::span<const Request> requests);
  /// As wait_any(). `requests` are all those that are watched and not complete yet; a network with
  /// thousands of ranks then need not look at each of them.
  [[nodiscard]] WaitAnyAwaiter wait_watched(std::span<const Request> requests);
  /// Sends and receives concurrently; co_await returns the received Message.
  [[nodiscard]] SendrecvAwaiter sendrecv(Rank to, Message message, Rank from, Tag tag);
  /// Simulates local work that takes `work` seconds. Communication in flight continues meanwhile.
  [[nodiscard]] ComputeAwaiter compute(Seconds work);
  /// Marks the rest of the enclosing scope as a phase of the scheme.
  [[nodiscard]] PhaseScope phase(std::string_view name);

 protected:
  [[nodiscard]] virtual Request start_program(StartedProgram program) = 0;
  /// Returns whether all requests are complete. If so, the rank's clock has advanced to the time of
  /// the last completion. A network that blocks its caller returns only when they are complete.
  virtual bool complete(std::span<const Request> requests) = 0;
  /// Called after complete() has returned false. Must resume `waiting` once all of `requests` are
  /// complete.
  virtual void park(std::span<const Request> requests, std::coroutine_handle<> waiting) = 0;
  /// The requests of which the first is waited for.
  struct AnyOf {
    std::span<const Request> requests;
    bool watched = false;  ///< they are all that are watched and not complete yet
  };
  /// Like complete() and park(), for the first of the requests.
  virtual bool complete_any(const AnyOf& /*of*/) {
    refuse("a wait for the first of several requests");
  }
  virtual void park_any(const AnyOf& /*of*/, std::coroutine_handle<> /*waiting*/) {
    refuse("a wait for the first of several requests");
  }
  /// Called when one of the requests is complete: the position of the one that completed first. The
  /// rank's clock advances to the time of its completion.
  virtual std::size_t first_complete(const AnyOf& /*of*/) {
    refuse("a wait for the first of several requests");
  }
  /// A send and a receive that a strand waits for together.
  struct Both {
    std::array<Request, 2> requests = {};  ///< of the send and of the receive, unless `paired`
    Message received = {};                 ///< if `paired`, when `complete`
    bool paired = false;                   ///< the network completes both at once
    bool complete = false;
  };
  /// Posts the receive and the send of a sendrecv(). A network may pair them with the peers' sends and
  /// receives; it then has park_paired() called instead of complete(), park() and finish().
  virtual void post_both(Both& both, Rank to, Message message, Rank from, Tag tag) {
    both.requests[1] = irecv(from, tag);
    both.requests[0] = isend(to, tag, std::move(message));
  }
  /// Called if `both` are paired and not complete. Must resume `waiting` once they are, or are no
  /// longer paired and their requests are complete.
  virtual void park_paired(Both& /*both*/, std::coroutine_handle<> /*waiting*/) {
    refuse("paired messages");
  }
  /// Releases a complete request and returns the Message that it received.
  virtual Message finish(Request request) = 0;
  /// Lets `work` seconds of simulated time pass (an event loop may just advance the rank's clock).
  virtual void spend(Seconds work) = 0;
  virtual void enter_phase(std::string_view name) = 0;
  virtual void leave_phase() noexcept = 0;

 private:
  // These forward the calls above to another communicator.
  friend class ForwardingCommunicator;
  friend class RecordingCommunicator;

  [[noreturn]] static void refuse(const char* what) {
    throw SimulationError(std::string("this network does not simulate ") + what);
  }

  Rank rank_;
  int size_;
};

}  // namespace thinwire::inline kernel

#include "sim/core/kernel/awaiters.hpp"
