#include "sim/networks/alphabeta/departures.hpp"

#include <algorithm>

namespace thinwire {

void Departures::push(double time, std::uint32_t rank) {
  place({time, rank});
  ++size_;
}

void Departures::place(const Departure& departure) {
  const auto bits = std::bit_cast<std::uint64_t>(departure.time);
  const auto bucket = static_cast<std::size_t>(std::bit_width(bits ^ last_));
  buckets_[bucket].push_back(departure);
  if (bucket > 0) occupied_ |= std::uint64_t{1} << (bucket - 1);
}

bool Departures::pop_earliest(double latest, std::vector<Departure>& batch) {
  std::vector<Departure>& now = buckets_[0];
  if (now.empty()) {
    if (occupied_ == 0) return false;
    std::vector<Departure>& source =
        buckets_[static_cast<std::size_t>(std::countr_zero(occupied_)) + 1];
    const double earliest = std::ranges::min(source, {}, &Departure::time).time;
    if (earliest > latest) return false;
    occupied_ &= occupied_ - 1;
    last_ = std::bit_cast<std::uint64_t>(earliest);
    for (const Departure& departure : source) place(departure);
    source.clear();
  } else if (now.front().time > latest) {
    return false;
  }
  if (!std::ranges::is_sorted(now, {}, &Departure::rank)) {
    std::ranges::sort(now, {}, &Departure::rank);
  }
  batch.insert(batch.end(), now.begin(), now.end());
  size_ -= now.size();
  now.clear();
  return true;
}

}  // namespace thinwire
