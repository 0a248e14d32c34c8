// Catches Ctrl-C and SIGTERM for work that must put something in order before it ends.
#pragma once

#include <csignal>

namespace thinwire::inline base {

/// While a guard lives, the first such signal is noted; only a second one ends the process.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  InterruptGuard(InterruptGuard&&) = delete;
  InterruptGuard& operator=(InterruptGuard&&) = delete;
  ~InterruptGuard();

  /// The signal that arrived, or 0.
  [[nodiscard]] static int signal();

 private:
  struct sigaction interrupt_before_ = {};
  struct sigaction terminate_before_ = {};
};

}  // namespace thinwire::inline base
