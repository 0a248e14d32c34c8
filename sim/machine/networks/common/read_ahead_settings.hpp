// How far the event loop reads ahead: what makes it fast, and moves no figure.
#pragma once

#include <cstddef>

namespace thinwire::networks {

/// The events of a window are taken out of the queue together, and what they read is prefetched.
/// Windows have a length of time where messages have a latency, and adapt it.
struct ReadAheadSettings {
  bool prefetches = true;
  std::size_t next_events = 128;   ///< of a window where messages have no latency
  std::size_t few_events = 64;     ///< a window with fewer is too short
  std::size_t many_events = 1024;  ///< a window with more is too long

  friend bool operator==(const ReadAheadSettings&, const ReadAheadSettings&) = default;
};

}  // namespace thinwire::networks
