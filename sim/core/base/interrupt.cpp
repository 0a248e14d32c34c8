#include "sim/core/base/interrupt.hpp"

#include <csignal>
#include <mutex>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline base {

namespace {

volatile std::sig_atomic_t came = 0;

void note(int signal) { came = signal; }

/// The guards that live, and what they found. The first one installs the handlers, and the last one
/// puts back what was there.
struct Guards {
  std::mutex mutex;
  int alive = 0;
  void (*poll)() = nullptr;  ///< of an interpreter
  struct sigaction interrupt_before = {};
  struct sigaction terminate_before = {};
};

Guards& guards() {
  static Guards all;
  return all;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  Guards& all = guards();
  const std::lock_guard lock(all.mutex);
  if (all.alive++ > 0 || all.poll != nullptr) return;
  came = 0;
  struct sigaction noted = {};
  noted.sa_handler = note;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  noted.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&noted.sa_mask);
  sigaction(SIGINT, &noted, &all.interrupt_before);
  sigaction(SIGTERM, &noted, &all.terminate_before);
}

InterruptGuard::~InterruptGuard() {
  Guards& all = guards();
  const std::lock_guard lock(all.mutex);
  if (--all.alive > 0 || all.poll != nullptr) return;
  sigaction(SIGINT, &all.interrupt_before, nullptr);
  sigaction(SIGTERM, &all.terminate_before, nullptr);
  came = 0;
}

void InterruptGuard::check() {
  if (guards().poll != nullptr) guards().poll();
  if (came != 0) throw InterruptedError("interrupted");
}

void leave_signals_to(void (*poll)()) { guards().poll = poll; }

}  // namespace thinwire::inline base
