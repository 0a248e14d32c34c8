// A scheme over a network that blocks its caller (SMPI) runs on a small stack, and none of its
// operations ever suspends. This program is built without optimisation, and with
// AddressSanitizer, where GCC makes no tail calls: loops of awaits must need constant stack all
// the same.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::inline kernel {

namespace {

constexpr int kRounds = 4096;
constexpr int kNesting = 8;
constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

/// How deep the stack has been, measured from where the thread began.
class StackGauge {
 public:
  void begin() { begin_ = here(); }
  void measure() { deepest_ = std::max(deepest_, begin_ - here()); }
  [[nodiscard]] std::uintptr_t deepest() const { return deepest_; }

 private:
  [[gnu::noinline]] static std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }
  std::uintptr_t begin_ = 0;
  std::uintptr_t deepest_ = 0;
};

/// One rank that talks to itself. Every operation is complete as soon as it is asked for.
class InstantCommunicator final : public Communicator {
 public:
  explicit InstantCommunicator(StackGauge& gauge) : Communicator(Rank(0), 1), gauge_(gauge) {}

  [[nodiscard]] Request isend(Rank /*to*/, Tag /*tag*/, Message message) override {
    sent_.push_back(std::move(message));
    return Request{kSend};
  }
  [[nodiscard]] Request irecv(Rank /*from*/, Tag /*tag*/) override { return Request{kReceive}; }
  [[nodiscard]] Seconds now() const override { return clock_; }

  [[nodiscard]] int finished() const { return finished_; }
  [[nodiscard]] bool parked() const { return parked_; }

 protected:
  Request start_program(StartedProgram /*program*/) override { return Request{}; }
  bool complete(std::span<const Request> /*requests*/) override {
    gauge_.measure();
    return true;
  }
  void park(std::span<const Request> /*requests*/, std::coroutine_handle<> /*waiting*/) override {
    parked_ = true;
  }
  Message finish(Request request) override {
    ++finished_;
    if (request.token == kSend) return {};
    Message message = std::move(sent_.front());
    sent_.pop_front();
    return message;
  }
  void spend(Seconds work) override {
    gauge_.measure();
    clock_ += work;
  }
  void enter_phase(std::string_view /*name*/) override {}
  void leave_phase() noexcept override {}

 private:
  static constexpr std::uint64_t kSend = 0;
  static constexpr std::uint64_t kReceive = 1;

  StackGauge& gauge_;
  std::deque<Message> sent_;
  Seconds clock_;
  int finished_ = 0;
  bool parked_ = false;
};

Message words(int count) { return {{}, Words(count)}; }

// --- The scheme.

Task<std::int64_t> operations_in_a_loop(Communicator& comm) {
  std::int64_t received = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Message back = co_await comm.sendrecv(Rank(0), words(round), Rank(0), Tag(0));
    received += back.words.value();
    const Request send = comm.isend(Rank(0), Tag(1), words(1));
    const Request receive = comm.irecv(Rank(0), Tag(1));
    co_await comm.wait(send);
    const Message one = co_await comm.wait(receive);
    received += one.words.value();
    const std::array both{comm.isend(Rank(0), Tag(2), words(2)), comm.irecv(Rank(0), Tag(2))};
    const std::vector<Message> two = co_await comm.wait_all(both);
    received += two[1].words.value();
    co_await comm.compute(Seconds(1));
  }
  co_return received;
}

Task<int> successor(Communicator& comm, int value) {
  co_await comm.compute(Seconds(0));
  co_return value + 1;
}

Task<int> tasks_in_a_loop(Communicator& comm) {
  int value = 0;
  for (int round = 0; round < kRounds; ++round) value = co_await successor(comm, value);
  co_return value;
}

Task<int> nested(Communicator& comm, int depth, int value) {
  if (depth == 0) {
    const int next = co_await successor(comm, value);
    co_return next;
  }
  const int below = co_await nested(comm, depth - 1, value);
  co_await comm.compute(Seconds(0));
  co_return below;
}

Task<int> nested_tasks_in_a_loop(Communicator& comm) {
  int value = 0;
  for (int round = 0; round < kRounds; ++round) value = co_await nested(comm, kNesting, value);
  co_return value;
}

Task<int> fails(Communicator& comm, int round) {
  co_await comm.compute(Seconds(0));
  if (round % 2 == 1) throw std::runtime_error("odd");
  co_return round;
}

Task<int> fails_below(Communicator& comm, int round) {
  const int value = co_await fails(comm, round);
  co_return value;
}

Task<int> exceptions_in_a_loop(Communicator& comm) {
  int caught = 0;
  for (int round = 0; round < kRounds; ++round) {
    try {
      co_await fails_below(comm, round);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  co_return caught;
}

Task<void> scheme(Communicator& comm, std::vector<std::int64_t>& results) {
  const std::int64_t received = co_await operations_in_a_loop(comm);
  results.push_back(received);
  const int tasks = co_await tasks_in_a_loop(comm);
  results.push_back(tasks);
  const int deep = co_await nested_tasks_in_a_loop(comm);
  results.push_back(deep);
  const int caught = co_await exceptions_in_a_loop(comm);
  results.push_back(caught);
}

struct Outcome {
  StackGauge gauge;
  std::vector<std::int64_t> results;
  int finished = 0;
  bool ok = false;
};

void* run_scheme(void* argument) {
  Outcome& outcome = *static_cast<Outcome*>(argument);
  outcome.gauge.begin();
  InstantCommunicator comm(outcome.gauge);
  Task<void> task = scheme(comm, outcome.results);
  task.start();
  if (task.done()) {
    task.result();
    outcome.ok = !comm.parked();
  }
  outcome.finished = comm.finished();
  return nullptr;
}

bool expect(const char* what, std::int64_t is, std::int64_t wanted) {
  std::printf("%-28s %10lld%s\n", what, static_cast<long long>(is), is == wanted ? "" : "  WRONG");
  return is == wanted;
}

int run() {
  Outcome outcome;
  pthread_attr_t attributes;
  pthread_t thread{};
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstacksize(&attributes, kStackBytes) != 0 ||
      pthread_create(&thread, &attributes, run_scheme, &outcome) != 0 ||
      pthread_join(thread, nullptr) != 0) {
    std::puts("no thread with a small stack could be had");
    return EXIT_FAILURE;
  }
  pthread_attr_destroy(&attributes);
  if (!outcome.ok || outcome.results.size() != 4) {
    std::puts("the scheme did not come to its end at once");
    return EXIT_FAILURE;
  }
  constexpr std::int64_t kWords = std::int64_t{kRounds} * (kRounds - 1) / 2 + 3 * kRounds;
  bool ok = expect("words received in a loop", outcome.results[0], kWords);
  ok = expect("requests finished", outcome.finished, 6 * kRounds) && ok;
  ok = expect("tasks in a loop", outcome.results[1], kRounds) && ok;
  ok = expect("tasks nested 8 deep", outcome.results[2], kRounds) && ok;
  ok = expect("exceptions caught", outcome.results[3], kRounds / 2) && ok;
  std::printf("%-28s %10llu of %zu bytes\n", "deepest stack",
              static_cast<unsigned long long>(outcome.gauge.deepest()), kStackBytes);
  // A frame of 16 bytes a round, the least there is, would already be 64 KiB.
  ok = ok && outcome.gauge.deepest() < std::uintptr_t{32} * 1024;
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace thinwire::inline kernel

int main() { return thinwire::run(); }
