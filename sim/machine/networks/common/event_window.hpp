// Events in windows of time: all that is known of the next stretch comes out at once, in order, so
// that what it will touch can be fetched ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine/networks/common/event_queue.hpp"

namespace thinwire::networks {

/// A queue of events that hands them out window by window.
class EventWindow {
 public:
  /// `time`, in seconds, must not lie before the event that came out last.
  void push(double time, std::uint32_t who);
  /// Once next() has said false: the window that begins with the earliest event and is `length`
  /// seconds long. False where there is no event.
  bool open(double length);
  /// The next event of the window, those included that were pushed into it; or false.
  bool next(Event& event);
  /// The event that comes out `n` after the next one, if none is pushed before it; or nullptr.
  [[nodiscard]] const Event* ahead(std::size_t n) const {
    return at_ + n < known_.size() ? &known_[at_ + n] : nullptr;
  }

 private:
  EventQueue later_;
  std::vector<Event> known_;  ///< when the window was opened, in order
  std::size_t at_ = 0;        ///< the next of them
  std::vector<Event> added_;  ///< since then: a heap, the earliest in front
  double end_ = -std::numeric_limits<double>::infinity();
};

}  // namespace thinwire::networks
