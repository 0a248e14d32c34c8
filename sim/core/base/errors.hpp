// The errors, sorted by who can mend them. Everything that is thrown on purpose is one of these.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace thinwire::inline base {

/// An error with a text, or with a format string and its values.
class WordedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  template <class First, class... Rest>
  explicit WordedError(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : std::runtime_error(
            fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// The user gave something that cannot be run. The text says what, where and what would be right;
/// the command line prints it in one line and exits with 2.
class InputError : public WordedError {
 public:
  using WordedError::WordedError;
};

/// A platform has fewer hosts than ranks. A sweep over sizes and platforms skips it.
class TooFewHostsError : public InputError {
 public:
  using InputError::InputError;
};

/// A simulation whose input was valid did not complete (exit code 1).
class SimulationError : public WordedError {
 public:
  using WordedError::WordedError;
};

/// Ranks wait and nothing is in flight. The text says which rank waits for which.
class DeadlockError : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// A message was sent or a receive was posted, and the other side never posted its own part.
class UnmatchedError : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// Ctrl-C or SIGTERM stopped a sweep in good order; nothing that was finished is lost.
class InterruptedError : public WordedError {
 public:
  using WordedError::WordedError;
};

}  // namespace thinwire::inline base
