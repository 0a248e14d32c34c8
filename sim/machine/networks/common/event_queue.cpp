#include "sim/machine/networks/common/event_queue.hpp"

#include <algorithm>

namespace thinwire::networks {

void EventQueue::push(double time, std::uint32_t who) {
  insert({time, who});
  ++size_;
}

void EventQueue::insert(const Event& event) {
  const auto bits = std::bit_cast<std::uint64_t>(event.time);
  const auto bucket = static_cast<std::size_t>(std::bit_width(bits ^ last_));
  buckets_[bucket].push_back(event);
  if (bucket > 0) occupied_ |= std::uint64_t{1} << (bucket - 1);
}

bool EventQueue::pop_earliest(double latest, std::vector<Event>& batch) {
  std::vector<Event>& now = buckets_[0];
  if (now.empty()) {
    if (occupied_ == 0) return false;
    std::vector<Event>& source =
        buckets_[static_cast<std::size_t>(std::countr_zero(occupied_)) + 1];
    const double earliest = std::ranges::min(source, {}, &Event::time).time;
    if (earliest > latest) return false;
    occupied_ &= occupied_ - 1;
    last_ = std::bit_cast<std::uint64_t>(earliest);
    for (const Event& event : source) insert(event);
    source.clear();
  } else if (now.front().time > latest) {
    return false;
  }
  if (!std::ranges::is_sorted(now, {}, &Event::who)) {
    std::ranges::sort(now, {}, &Event::who);
  }
  batch.insert(batch.end(), now.begin(), now.end());
  size_ -= now.size();
  now.clear();
  return true;
}

}  // namespace thinwire::networks
