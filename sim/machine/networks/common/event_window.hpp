// Events in windows of time. All known events of the next window are taken out of the queue at
// once, in order, so that the data which they need can be prefetched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine/networks/common/event_queue.hpp"

namespace thinwire::networks {

/// A queue of events that hands them out window by window, in the same order whatever the windows.
class EventWindow {
 public:
  explicit EventWindow(EventOrder order = {}) : order_(order), later_(order) {}

  /// The event's time must not be before the last event taken out.
  void push(const Event& event);
  /// Opens the window of `length` seconds that begins with the earliest event. To be called when
  /// the previous window has no more events. Returns false if there are no events at all.
  bool open(double length);
  /// The same for the window of the next `events` events and those at the same time as the last of
  /// them. Schedules in bursts have few events that are added to such a window.
  bool open_next(std::size_t events);
  /// Whether the window has another event, including events pushed since it was opened.
  [[nodiscard]] bool has_next() const { return at_ < known_.size() || !added_.empty(); }
  /// The time of the next event of the window; there must be one.
  [[nodiscard]] double next_time() const {
    if (at_ == known_.size()) return added_.front().time;
    return added_.empty() ? known_[at_].time : std::min(known_[at_].time, added_.front().time);
  }
  /// Takes out the next event of the window; there must be one.
  Event next();
  /// The number of events that are known: all from when the window was opened, and all that were put
  /// among them since.
  [[nodiscard]] std::size_t known() const { return known_.size(); }
  /// The number of those that have been taken out.
  [[nodiscard]] std::size_t taken() const { return at_; }
  /// The event that is `n` places after the next one, if no other event is pushed before it.
  /// Returns nullptr if the window has no such event.
  [[nodiscard]] const Event* ahead(std::size_t n) const {
    return at_ + n < known_.size() ? &known_[at_ + n] : nullptr;
  }

 private:
  EventOrder order_;
  EventQueue later_;
  std::vector<Event> known_;  ///< in order
  std::size_t at_ = 0;        ///< index of the next event in known_
  bool few_ = false;          ///< the window was opened for a number of events
  std::vector<Event> added_;  ///< events pushed among many: a heap, the earliest in front
  double end_ = -std::numeric_limits<double>::infinity();
};

}  // namespace thinwire::networks
