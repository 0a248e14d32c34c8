// What a rank awaits: the awaiters of communicator.hpp, which includes this file.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/kernel/communicator.hpp"

namespace thinwire::inline kernel {

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
  SendrecvAwaiter(Communicator& comm, Rank to, Message&& message, Rank from, Tag tag)
      : comm_(comm) {
    comm_.post_both(both_, to, std::move(message), from, tag);
  }
  SendrecvAwaiter(const SendrecvAwaiter&) = delete;  // the network knows where it is
  SendrecvAwaiter& operator=(const SendrecvAwaiter&) = delete;
  ~SendrecvAwaiter() = default;
  [[nodiscard]] bool await_ready() const {
    return both_.paired ? both_.complete : comm_.complete(both_.requests);
  }
  void await_suspend(std::coroutine_handle<> waiting) {
    if (both_.paired) return comm_.park_paired(both_, waiting);
    comm_.park(both_.requests, waiting);
  }
  Message await_resume() {
    if (both_.paired) return std::move(both_.received);
    comm_.finish(both_.requests[0]);
    return comm_.finish(both_.requests[1]);
  }

 private:
  Communicator& comm_;
  Both both_;
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
  return {*this, to, std::move(message), from, tag};
}

inline Communicator::ComputeAwaiter Communicator::compute(Seconds work) { return {*this, work}; }

inline Communicator::PhaseScope Communicator::phase(std::string_view name) { return {*this, name}; }

}  // namespace thinwire::inline kernel
