// Task<T>: the coroutine type in which schemes and collectives are written.
//
// A task is lazy, move-only, and awaited in the expression that creates it. An awaited task runs on
// the stack of the awaiting coroutine until it first suspends. If it completes without suspending,
// the awaiting coroutine continues directly, without a symmetric transfer. A loop over tasks that
// complete at once therefore needs constant stack space, also at -O0 and under sanitizers, where
// GCC makes no tail calls. Only a task that has suspended transfers control to its parent when it
// ends. The stack is then as deep as tasks are nested.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace thinwire::inline kernel {

/// The coroutine type of schemes: see the comment at the top of this file.
template <class T = void>
class Task;

namespace detail {

class TaskPromiseBase {
 public:
  struct FinalAwaiter {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      const TaskPromiseBase& promise = ended.promise();
      return promise.suspended_parent_ ? promise.suspended_parent_ : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  void resume_at_end(std::coroutine_handle<> parent) noexcept { suspended_parent_ = parent; }

 protected:
  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::coroutine_handle<> suspended_parent_;
  std::exception_ptr error_;
};

template <class T>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow_error();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const { rethrow_error(); }
};

}  // namespace detail

/// The coroutine type of schemes: lazy, move-only, awaited in the expression that creates it.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs a root task until it first suspends. Child tasks are co_awaited instead.
  void start() { coroutine_.resume(); }
  [[nodiscard]] bool done() const { return coroutine_.done(); }
  /// The value of a root task that is done. Rethrows the exception of the task.
  T result() { return coroutine_.promise().take(); }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> child;

      [[nodiscard]] bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> parent) const {
        child.resume();
        if (child.done()) return false;
        child.promise().resume_at_end(parent);
        return true;
      }
      T await_resume() const { return child.promise().take(); }
    };
    return Awaiter{coroutine_};
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> detail::TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace thinwire::inline kernel
