#include "sim/machine/networks/common/event_window.hpp"

#include <algorithm>
#include <cmath>

namespace thinwire::networks {

namespace {

/// For a heap with the earliest event in front.
struct LaterOf {
  EventOrder order;
  bool operator()(const Event& a, const Event& b) const { return order(b, a); }
};

}  // namespace

void EventWindow::push(const Event& event) {
  if (event.time >= end_) {
    later_.push(event);
    return;
  }
  // Among few known events it is put in its place, so that it is prefetched as they are.
  if (few_) {
    known_.insert(std::upper_bound(known_.begin() + static_cast<std::ptrdiff_t>(at_), known_.end(),
                                   event, order_),
                  event);
    return;
  }
  added_.push_back(event);
  std::push_heap(added_.begin(), added_.end(), LaterOf{order_});
}

bool EventWindow::open(double length) {
  known_.clear();
  at_ = 0;
  few_ = false;
  if (!later_.pop_earliest(std::numeric_limits<double>::infinity(), known_)) return false;
  end_ = known_.front().time + length;
  while (later_.pop_some(std::nextafter(end_, 0.0), known_)) {
  }
  return true;
}

bool EventWindow::open_next(std::size_t events) {
  known_.clear();
  at_ = 0;
  few_ = true;
  while (known_.size() < events &&
         later_.pop_some(std::numeric_limits<double>::infinity(), known_)) {
  }
  if (known_.empty()) return false;
  end_ = std::nextafter(known_.back().time, std::numeric_limits<double>::infinity());
  return true;
}

Event EventWindow::next() {
  if (added_.empty() || (at_ < known_.size() && order_(known_[at_], added_.front()))) {
    return known_[at_++];
  }
  const Event event = added_.front();
  std::pop_heap(added_.begin(), added_.end(), LaterOf{order_});
  added_.pop_back();
  return event;
}

}  // namespace thinwire::networks
