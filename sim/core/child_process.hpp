// Work done in a child process, so that what it breaks, leaks or keeps ends with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace thinwire {

/// What a child process is to do.
struct ChildWork {
  /// Names what `prepare` reads, for the complaint if it dies there.
  std::string subject = {};
  /// Makes ready what the user gave: a crash or an abort in here is the input's fault.
  std::function<void()> prepare = {};
  /// Gives back a text of any length and content.
  std::function<std::string()> run = {};
};

/// What a child process that ended well leaves.
struct ChildOutcome {
  std::string text;                 ///< what `run` gave
  std::int64_t peak_rss_bytes = 0;  ///< the most memory that the child held at once
};

/// Runs both parts in a forked child, one after the other, and waits for it. What it prints on
/// stderr passes through when `verbose`, and is kept back otherwise, to name the reason of a crash.
/// Throws what the child threw (InputError, DeadlockError, UnmatchedError, SimulationError,
/// std::bad_alloc), InputError where it died in `prepare`, SimulationError where it died in `run`.
[[nodiscard]] ChildOutcome in_child_process(const ChildWork& work, bool verbose = false);

}  // namespace thinwire
