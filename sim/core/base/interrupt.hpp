// Catches Ctrl-C and SIGTERM for work that must put something in order before it ends.
#pragma once

namespace thinwire::inline base {

/// While a guard lives, the first such signal is noted; only a second one ends the process. Guards may
/// live within each other, and in several threads.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  InterruptGuard(InterruptGuard&&) = delete;
  InterruptGuard& operator=(InterruptGuard&&) = delete;
  ~InterruptGuard();

  /// The signal that arrived while the guards live, or 0.
  [[nodiscard]] static int signal();
};

}  // namespace thinwire::inline base
