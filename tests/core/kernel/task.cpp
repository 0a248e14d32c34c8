#include "sim/core/kernel/task.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace thinwire::inline kernel {

namespace {

/// Sets a flag when it goes.
class Guard {
 public:
  explicit Guard(int& destroyed) : destroyed_(destroyed) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { ++destroyed_; }

 private:
  int& destroyed_;
};

/// Parks whoever waits for it until somebody opens it.
class Gate {
 public:
  [[nodiscard]] bool await_ready() const { return open_; }
  void await_suspend(std::coroutine_handle<> waiting) { waiting_ = waiting; }
  void await_resume() const {}
  void open() {
    open_ = true;
    if (waiting_) waiting_.resume();
  }

 private:
  bool open_ = false;
  std::coroutine_handle<> waiting_;
};

Task<int> forty_two(int& started) {
  ++started;
  co_return 42;
}

Task<int> behind(Gate& gate, int value) {
  co_await gate;
  co_return value;
}

Task<int> sum_behind(Gate& first, Gate& second, int& destroyed) {
  const Guard guard(destroyed);
  const int a = co_await behind(first, 1);
  const int b = co_await behind(second, 2);
  co_return a + b;
}

Task<int> nested_behind(Gate& gate, int depth) {
  if (depth == 0) {
    co_await gate;
    co_return 0;
  }
  const int below = co_await nested_behind(gate, depth - 1);
  co_return below + 1;
}

Task<void> throws_at_once() {
  throw std::runtime_error("at once");
  co_return;
}

Task<int> throws_behind(Gate& gate) {
  co_await gate;
  throw std::runtime_error("behind the gate");
}

Task<std::string> tells_what_it_caught(Gate& gate) {
  std::string text;
  try {
    co_await throws_at_once();
  } catch (const std::runtime_error& error) {
    text = error.what();
  }
  try {
    const int value = co_await throws_behind(gate);
    text += std::to_string(value);
  } catch (const std::runtime_error& error) {
    text += std::string(", then ") + error.what();
  }
  co_return text;
}

Task<int> passes_on(Gate& gate, int& destroyed) {
  const Guard guard(destroyed);
  const int value = co_await throws_behind(gate);
  co_return value;
}

Task<std::unique_ptr<int>> gives_away() { co_return std::make_unique<int>(7); }

Task<int> takes() {
  const std::unique_ptr<int> value = co_await gives_away();
  co_return *value;
}

}  // namespace

TEST_CASE("Nothing runs before a task is started") {
  int started = 0;
  Task<int> task = forty_two(started);
  CHECK(started == 0);
  CHECK_FALSE(task.done());
  task.start();
  CHECK(started == 1);
  CHECK(task.done());
  CHECK(task.result() == 42);
}

TEST_CASE("A task that is never started is dropped without having run") {
  int started = 0;
  { const Task<int> task = forty_two(started); }
  CHECK(started == 0);
}

TEST_CASE("Tasks move and do not copy") {
  static_assert(!std::is_copy_constructible_v<Task<int>>);
  static_assert(!std::is_copy_assignable_v<Task<int>>);
  static_assert(std::is_nothrow_move_constructible_v<Task<int>>);
  int started = 0;
  Gate gate;
  Task<int> first = behind(gate, 5);
  first.start();
  Task<int> second = std::move(first);  // moved while it is suspended
  Task<int> third = forty_two(started);
  third = std::move(second);
  gate.open();
  CHECK(third.done());
  CHECK(third.result() == 5);
  CHECK(started == 0);
}

TEST_CASE("A parent goes on when its suspended child ends") {
  Gate first;
  Gate second;
  int destroyed = 0;
  Task<int> task = sum_behind(first, second, destroyed);
  task.start();
  CHECK_FALSE(task.done());
  first.open();
  CHECK_FALSE(task.done());
  CHECK(destroyed == 0);
  second.open();
  CHECK(task.done());
  CHECK(task.result() == 3);
}

TEST_CASE("A child that does not suspend lets its parent go straight on") {
  Gate first;
  Gate second;
  first.open();
  second.open();
  int destroyed = 0;
  Task<int> task = sum_behind(first, second, destroyed);
  task.start();
  CHECK(task.done());
  CHECK(task.result() == 3);
}

TEST_CASE("A chain of suspended tasks ends from the innermost outwards") {
  Gate gate;
  Task<int> task = nested_behind(gate, 100);
  task.start();
  CHECK_FALSE(task.done());
  gate.open();
  CHECK(task.done());
  CHECK(task.result() == 100);
}

TEST_CASE("Results of tasks may be of types that only move") {
  Task<int> task = takes();
  task.start();
  CHECK(task.result() == 7);
}

TEST_CASE("Exceptions pass to the awaiting task and out of a root task") {
  Gate gate;
  Task<std::string> caught = tells_what_it_caught(gate);
  caught.start();
  gate.open();
  CHECK(caught.result() == "at once, then behind the gate");

  Gate other;
  int destroyed = 0;
  Task<int> passed = passes_on(other, destroyed);
  passed.start();
  other.open();
  CHECK(passed.done());
  CHECK(destroyed == 1);
  CHECK_THROWS_WITH_AS(passed.result(), "behind the gate", std::runtime_error);

  Task<void> plain = throws_at_once();
  plain.start();
  CHECK(plain.done());
  CHECK_THROWS_WITH_AS(plain.result(), "at once", std::runtime_error);
}

TEST_CASE("A task that is destroyed while suspended destroys what it and its children hold") {
  Gate first;
  Gate second;
  int destroyed = 0;
  {
    Task<int> task = sum_behind(first, second, destroyed);
    task.start();
    first.open();
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);

  Gate gate;
  {
    Task<int> deep = nested_behind(gate, 50);
    deep.start();
    CHECK_FALSE(deep.done());
  }
}

}  // namespace thinwire::inline kernel
