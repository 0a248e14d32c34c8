#include "sim/machine/networks/common/event_queue.hpp"

#include <algorithm>

namespace thinwire::networks {

void EventQueue::push(const Event& event) {
  insert(event);
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
    std::vector<Event>& source = first_bucket();
    const double earliest = std::ranges::min(source, {}, &Event::time).time;
    if (earliest > latest) return false;
    occupied_ &= occupied_ - 1;
    last_ = std::bit_cast<std::uint64_t>(earliest);
    for (const Event& event : source) insert(event);
    source.clear();
  } else if (now.front().time > latest) {
    return false;
  }
  if (!std::ranges::is_sorted(now, order_)) std::ranges::sort(now, order_);
  batch.insert(batch.end(), now.begin(), now.end());
  size_ -= now.size();
  now.clear();
  return true;
}

// A small bucket is sorted as a whole. The buckets behind it stay right, because they differ from
// its entries where they differed from the last popped time.
bool EventQueue::pop_some(double latest, std::vector<Event>& batch) {
  constexpr std::size_t kSmall = 64;
  if (!buckets_[0].empty() || occupied_ == 0) return pop_earliest(latest, batch);
  std::vector<Event>& source = first_bucket();
  if (source.size() > kSmall) return pop_earliest(latest, batch);
  std::ranges::sort(source, order_);
  if (source.back().time > latest) return pop_earliest(latest, batch);
  last_ = std::bit_cast<std::uint64_t>(source.back().time);
  occupied_ &= occupied_ - 1;
  batch.insert(batch.end(), source.begin(), source.end());
  size_ -= source.size();
  source.clear();
  return true;
}

}  // namespace thinwire::networks
