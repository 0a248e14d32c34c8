// Runs work in a child process, so that what the work breaks, leaks or keeps ends with the child.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace thinwire::inline base {

/// The number of processes that run at once by default: one for each processor.
[[nodiscard]] int default_processes();

/// The work of a child process, in two parts.
struct ChildWork {
  /// The file that `prepare` reads; the error message names it when the child dies there.
  std::string subject = {};
  /// Loads the user's input: a crash or an abort in here is the input's fault.
  std::function<void()> prepare = {};
  /// Returns a text of any length and content.
  std::function<std::string()> run = {};
};

/// The limits of a child; a child that exceeds one is killed.
struct ChildLimits {
  std::optional<double> seconds = {};             ///< wall-clock time
  std::optional<std::int64_t> memory_bytes = {};  ///< resident memory, checked 20 times per second
};

/// The result of a child process that ended without an error.
struct ChildOutcome {
  std::string text;                 ///< the return value of `run`
  std::int64_t peak_rss_bytes = 0;  ///< the peak of the resident memory
};

/// Runs both parts of a ChildWork, one after the other, in a forked child. Several may run at once.
/// What a child prints on stderr passes through when `verbose`; otherwise it is kept to name the
/// reason of a crash. A child outlives neither this object nor its parent, and leaves Ctrl-C and
/// SIGTERM to its parent.
class ChildProcess {
 public:
  /// Throws SimulationError when no process can be created.
  explicit ChildProcess(ChildWork work, ChildLimits limits = {}, bool verbose = false);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // kills the child

  /// Reads what the child has sent, without waiting, and enforces its limits; true when the child
  /// has ended.
  [[nodiscard]] bool advance();
  /// Waits until advance() returns true. Throws InterruptedError after Ctrl-C or SIGTERM while an
  /// InterruptGuard lives.
  void wait();
  /// Wall-clock seconds from the start of the child to its end, or to now while it runs.
  [[nodiscard]] double wall_s() const;
  /// The result of a child that has ended. Throws what the child threw (InputError, DeadlockError,
  /// UnmatchedError, SimulationError, std::bad_alloc), InputError when it died in `prepare`, and
  /// SimulationError when it died in `run` or exceeded a limit.
  [[nodiscard]] ChildOutcome outcome() const;
  /// Waits until one of `children` has sent something, a limit is due to be checked, a signal
  /// arrives, or `longest` has passed.
  static void wait_for_news(std::span<const ChildProcess* const> children,
                            std::chrono::milliseconds longest);

 private:
  void hold_to_limits();
  void reap();

  ChildWork work_;
  ChildLimits limits_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point end_;
  pid_t pid_ = -1;              // -1 once it has been waited for
  std::array<int, 2> files_{};  // results and messages; -1 once at their end
  std::array<std::string, 2> received_;
  std::string killed_for_;
  int status_ = 0;
  std::int64_t peak_rss_bytes_ = 0;
};

/// Runs a child process and waits for its end. Throws the errors of ChildProcess::outcome.
[[nodiscard]] ChildOutcome in_child_process(ChildWork work, bool verbose = false);

}  // namespace thinwire::inline base
