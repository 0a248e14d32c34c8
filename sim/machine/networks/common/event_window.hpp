// Events in windows of time: all known events of the next window are taken out at once, in order,
// so that the data they touch can be prefetched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine/networks/common/event_queue.hpp"

namespace thinwire::networks {

/// A queue of events that hands them out window by window.
class EventWindow {
 public:
  /// `time`, in seconds, must not be before the last event taken out.
  void push(double time, std::uint32_t who);
  /// Opens the window of `length` seconds that begins with the earliest event. To be called when
  /// the one before is used up. Returns false when there are no events.
  bool open(double length);
  /// Whether the window has another event, including those pushed meanwhile.
  [[nodiscard]] bool has_next() const { return at_ < known_.size() || !added_.empty(); }
  /// The time of that event; there must be one.
  [[nodiscard]] double next_time() const {
    if (at_ == known_.size()) return added_.front().time;
    return added_.empty() ? known_[at_].time : std::min(known_[at_].time, added_.front().time);
  }
  /// Takes out the next event of the window; there must be one.
  Event next();
  /// The number of events that were known when the window was opened.
  [[nodiscard]] std::size_t known() const { return known_.size(); }
  /// The event that is `n` places after the next one, if none is pushed before it; or nullptr.
  [[nodiscard]] const Event* ahead(std::size_t n) const {
    return at_ + n < known_.size() ? &known_[at_ + n] : nullptr;
  }

 private:
  EventQueue later_;
  std::vector<Event> known_;  ///< the events known when the window was opened, in order
  std::size_t at_ = 0;        ///< index of the next of them
  std::vector<Event> added_;  ///< those pushed since then: a heap, the earliest in front
  double end_ = -std::numeric_limits<double>::infinity();
};

}  // namespace thinwire::networks
