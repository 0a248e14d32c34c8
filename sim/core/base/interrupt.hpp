// Catches Ctrl-C and SIGTERM for work that must put something in order before it ends.
#pragma once

namespace thinwire::inline base {

/// While a guard lives, the first such signal is noted; only a second one ends the process. Guards may
/// live within each other, and in several threads. Where an interpreter has handlers of its own,
/// guards leave all signals to it.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Throws InterruptedError if a signal arrived while the guards live. Work that takes long calls it
  /// several times a second.
  static void check();
};

/// `poll` is called by each InterruptGuard::check() instead: it runs the handlers that are due, and
/// throws InterruptedError where one of them ends the work. Null: guards catch signals themselves.
void leave_signals_to(void (*poll)());

}  // namespace thinwire::inline base
