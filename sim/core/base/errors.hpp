// The errors, sorted by who can mend them. Everything that is thrown on purpose is one of these.
#pragma once

#include <stdexcept>

namespace thinwire::inline base {

/// The user gave something that cannot be run. The text says what, where and what would be right;
/// the command line prints it in one line and exits with 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A platform has fewer hosts than ranks. A sweep over sizes and platforms skips it.
class TooFewHostsError : public InputError {
 public:
  using InputError::InputError;
};

/// A simulation whose input was valid did not complete (exit code 1).
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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
class InterruptedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace thinwire::inline base
