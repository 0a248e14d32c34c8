// Work done in a child process, so that what it breaks, leaks or keeps ends with it.
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

/// What a child process is to do.
struct ChildWork {
  /// Names what `prepare` reads, for the complaint if it dies there.
  std::string subject = {};
  /// Makes ready what the user gave: a crash or an abort in here is the input's fault.
  std::function<void()> prepare = {};
  /// Gives back a text of any length and content.
  std::function<std::string()> run = {};
};

/// What a child may take; beyond it it is killed.
struct ChildLimits {
  std::optional<double> seconds = {};             ///< of wall-clock time
  std::optional<std::int64_t> memory_bytes = {};  ///< resident at once, looked at 20 times a second
};

/// What a child process that ended well leaves.
struct ChildOutcome {
  std::string text;                 ///< what `run` gave
  std::int64_t peak_rss_bytes = 0;  ///< the most memory that the child held at once
};

/// Both parts of a work, one after the other, in a forked child. Several may run at once. What a
/// child prints on stderr passes through when `verbose`, and is kept back otherwise, to name the
/// reason of a crash. A child outlives neither this object nor its parent, and leaves Ctrl-C and
/// SIGTERM to its parent.
class ChildProcess {
 public:
  /// Throws SimulationError where no process can be had.
  explicit ChildProcess(ChildWork work, ChildLimits limits = {}, bool verbose = false);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills it

  /// Takes in what the child has sent, without waiting, and holds it to its limits; true when it
  /// has ended.
  [[nodiscard]] bool advance();
  /// Until advance() is true.
  void wait();
  /// Wall-clock seconds since its start; of a child that has ended, until then.
  [[nodiscard]] double wall_s() const;
  /// Of a child that has ended. Throws what the child threw (InputError, DeadlockError,
  /// UnmatchedError, SimulationError, std::bad_alloc), InputError where it died in `prepare`,
  /// SimulationError where it died in `run` or went beyond a limit.
  [[nodiscard]] ChildOutcome outcome() const;
  /// Waits until one of `children` has something to say, a limit wants to be looked at, a signal
  /// comes, or `longest` has passed.
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
  std::array<int, 2> files_{};  // results and messages, -1 at their ends
  std::array<std::string, 2> received_;
  std::string killed_for_;
  int status_ = 0;
  std::int64_t peak_rss_bytes_ = 0;
};

/// Runs a child and waits for it. Throws as ChildProcess::outcome does.
[[nodiscard]] ChildOutcome in_child_process(ChildWork work, bool verbose = false);

}  // namespace thinwire::inline base
