#include "sim/machine/networks/common/event_window.hpp"

#include <algorithm>
#include <cmath>

namespace thinwire::networks {

namespace {

bool later(const Event& a, const Event& b) {
  return a.time != b.time ? a.time > b.time : a.who > b.who;
}

}  // namespace

void EventWindow::push(double time, std::uint32_t who) {
  if (time >= end_) {
    later_.push(time, who);
    return;
  }
  added_.push_back({time, who});
  std::push_heap(added_.begin(), added_.end(), later);
}

bool EventWindow::open(double length) {
  known_.clear();
  at_ = 0;
  if (!later_.pop_earliest(std::numeric_limits<double>::infinity(), known_)) return false;
  end_ = known_.front().time + length;
  while (later_.pop_earliest(std::nextafter(end_, 0.0), known_)) {
  }
  return true;
}

bool EventWindow::next(Event& event) {
  const bool known = at_ < known_.size();
  if (!added_.empty() && (!known || later(known_[at_], added_.front()))) {
    event = added_.front();
    std::pop_heap(added_.begin(), added_.end(), later);
    added_.pop_back();
    return true;
  }
  if (known) event = known_[at_++];
  return known;
}

}  // namespace thinwire::networks
