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
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/core/kernel/in_switches.hpp"
#include "sim/core/kernel/message.hpp"
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

/// Two ranks between which a message goes.
struct Ends {
  Rank from;
  Rank to;
};

/// The operations of one strand of one rank on a network.
class Communicator {
 public:
  Communicator(Rank rank, int size) : rank_(rank), size_(size) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] Rank rank() const { return rank_; }
  /// P, the number of ranks.
  [[nodiscard]] int size() const { return size_; }
  /// How many ranks this one stands for. All ranks run and stand for themselves, unless few of them
  /// represent all; then what is sent to a rank goes to its representative.
  [[nodiscard]] virtual int stands_for() const { return 1; }
  /// The rank that runs in place of a rank of the communicator: itself, if all run.
  [[nodiscard]] virtual Rank representative(Rank rank) const { return rank; }

  /// Whether ranks that represent others have places on a platform, so that some are nearer to each
  /// other than others.
  [[nodiscard]] virtual bool have_places() const { return false; }

  /// Posts a send. Messages with the same sender, receiver and tag are received in the order in
  /// which they were posted.
  [[nodiscard]] virtual Request isend(Rank to, Tag tag, Message message) = 0;
  /// The same over the route between two other ranks, where ranks have places and few of them stand
  /// for all: the message stands for those of others, too.
  [[nodiscard]] virtual Request isend_between(const Ends& /*ends*/, Rank to, Tag tag,
                                              Message message) {
    return isend(to, tag, std::move(message));
  }
  /// Posts a receive from one rank; there is no wildcard.
  [[nodiscard]] virtual Request irecv(Rank from, Tag tag) = 0;
  /// Starts `program` on the second strand and returns at once. The program takes the second
  /// strand's Communicator and returns a Task<Message> or a Task<void>. The strand runs the started
  /// programs in order, one at a time. Its messages match only those of the other ranks' second
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
  /// Whether exchange() may be used. In one exchange all ranks use it, or none. A network with
  /// thousands of ranks in one thread then takes the steps itself, and does not resume the rank for
  /// each.
  [[nodiscard]] virtual bool takes_exchanges() const { return false; }

  class WaitAwaiter;
  class WaitAllAwaiter;
  class WaitAnyAwaiter;
  class SendrecvAwaiter;
  class ExchangeAwaiter;
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
  /// A rotated exchange with all other ranks (peers_in_step()), which all ranks call. Up to
  /// `under_way` steps are under way at once, at least 1. The rank waits for the message of the
  /// oldest step, and for its send. It then posts the next step, and processes the message
  /// meanwhile. With one step under way, it processes the message before it posts the next step. What
  /// `part` throws ends the run.
  [[nodiscard]] ExchangeAwaiter exchange(ExchangePart& part, Tag tag, int under_way);
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
  /// Of which requests the first is waited for.
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
  /// Begins an exchange. Returns whether it is over.
  virtual bool begin_exchange(ExchangePart& /*part*/, Tag /*tag*/, int /*under_way*/) {
    refuse("an exchange whose steps it takes itself");
  }
  /// Called after begin_exchange() has returned false. Must resume `waiting` when the exchange is
  /// over.
  virtual void park_exchange(std::coroutine_handle<> /*waiting*/) {
    refuse("an exchange whose steps it takes itself");
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

/// The awaiter of one request.
class Communicator::WaitAwaiter {
 public:
  WaitAwaiter(Communicator& comm, Request request) : comm_(comm), request_(request) {}
  [[nodiscard]] bool await_ready() const { return comm_.complete({&request_, 1}); }
  void await_suspend(std::coroutine_handle<> waiting) const { comm_.park({&request_, 1}, waiting); }
  Message await_resume() const { return comm_.finish(request_); }

 private:
  Communicator& comm_;
  Request request_;
};

/// The awaiter of several requests.
class Communicator::WaitAllAwaiter {
 public:
  WaitAllAwaiter(Communicator& comm, std::span<const Request> requests)
      : comm_(comm), requests_(requests) {}
  [[nodiscard]] bool await_ready() const { return comm_.complete(requests_); }
  void await_suspend(std::coroutine_handle<> waiting) const { comm_.park(requests_, waiting); }
  std::vector<Message> await_resume() const {
    std::vector<Message> received;
    received.reserve(requests_.size());
    for (const Request request : requests_) received.push_back(comm_.finish(request));
    return received;
  }

 private:
  Communicator& comm_;
  std::span<const Request> requests_;
};

/// The awaiter of the first of several requests.
class Communicator::WaitAnyAwaiter {
 public:
  /// The request that completed first.
  struct First {
    std::size_t position = 0;  ///< in the requests
    Message message;
  };

  WaitAnyAwaiter(Communicator& comm, const AnyOf& of) : comm_(comm), of_(of) {}
  [[nodiscard]] bool await_ready() const { return comm_.complete_any(of_); }
  void await_suspend(std::coroutine_handle<> waiting) const { comm_.park_any(of_, waiting); }
  First await_resume() const {
    const std::size_t position = comm_.first_complete(of_);
    return {.position = position, .message = comm_.finish(of_.requests[position])};
  }

 private:
  Communicator& comm_;
  AnyOf of_;
};

/// The awaiter of a send and a receive together.
class Communicator::SendrecvAwaiter {
 public:
  SendrecvAwaiter(Communicator& comm, Request send, Request receive)
      : comm_(comm), requests_{send, receive} {}
  [[nodiscard]] bool await_ready() const { return comm_.complete(requests_); }
  void await_suspend(std::coroutine_handle<> waiting) const { comm_.park(requests_, waiting); }
  Message await_resume() const {
    comm_.finish(requests_[0]);
    return comm_.finish(requests_[1]);
  }

 private:
  Communicator& comm_;
  std::array<Request, 2> requests_;
};

/// The awaiter of an exchange.
class Communicator::ExchangeAwaiter {
 public:
  ExchangeAwaiter(Communicator& comm, ExchangePart& part, Tag tag, int under_way)
      : comm_(comm), part_(part), tag_(tag), under_way_(under_way) {}
  [[nodiscard]] bool await_ready() const { return comm_.begin_exchange(part_, tag_, under_way_); }
  void await_suspend(std::coroutine_handle<> waiting) const { comm_.park_exchange(waiting); }
  void await_resume() const {}

 private:
  Communicator& comm_;
  ExchangePart& part_;
  Tag tag_;
  int under_way_;
};

/// The awaiter of local work.
class Communicator::ComputeAwaiter {
 public:
  ComputeAwaiter(Communicator& comm, Seconds work) : comm_(comm), work_(work) {}
  [[nodiscard]] bool await_ready() const {
    comm_.spend(work_);
    return true;
  }
  void await_suspend(std::coroutine_handle<> /*waiting*/) const {}
  void await_resume() const {}

 private:
  Communicator& comm_;
  Seconds work_;
};

/// A phase that lasts from construction to the end of the scope.
class Communicator::PhaseScope {
 public:
  PhaseScope(Communicator& comm, std::string_view name) : comm_(comm) { comm_.enter_phase(name); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;
  PhaseScope(PhaseScope&&) = delete;
  PhaseScope& operator=(PhaseScope&&) = delete;
  ~PhaseScope() { comm_.leave_phase(); }

 private:
  Communicator& comm_;
};

namespace detail {

inline Task<Message> without_message(Task<void> program) {
  co_await std::move(program);
  co_return Message{};
}

}  // namespace detail

template <class Program>
Request Communicator::start(Program program) {
  if constexpr (std::is_same_v<std::invoke_result_t<Program&, Communicator&>, Task<void>>) {
    return start_program([program = std::move(program)](Communicator& strand) mutable {
      return detail::without_message(program(strand));
    });
  } else {
    return start_program(std::move(program));
  }
}

inline Communicator::WaitAwaiter Communicator::wait(Request request) { return {*this, request}; }

inline Communicator::WaitAllAwaiter Communicator::wait_all(std::span<const Request> requests) {
  return {*this, requests};
}

inline Communicator::WaitAnyAwaiter Communicator::wait_any(std::span<const Request> requests) {
  return {*this, {.requests = requests, .watched = false}};
}

inline Communicator::WaitAnyAwaiter Communicator::wait_watched(std::span<const Request> requests) {
  return {*this, {.requests = requests, .watched = true}};
}

inline Communicator::SendrecvAwaiter Communicator::sendrecv(Rank to, Message message, Rank from,
                                                            Tag tag) {
  const Request receive = irecv(from, tag);
  return {*this, isend(to, tag, std::move(message)), receive};
}

inline Communicator::ExchangeAwaiter Communicator::exchange(ExchangePart& part, Tag tag,
                                                            int under_way) {
  return {*this, part, tag, under_way};
}

inline Communicator::ComputeAwaiter Communicator::compute(Seconds work) { return {*this, work}; }

inline Communicator::PhaseScope Communicator::phase(std::string_view name) { return {*this, name}; }

}  // namespace thinwire::inline kernel
