#include "sim/machine/networks/common/turns.hpp"

#include <algorithm>

namespace thinwire::networks {

std::uint64_t Turns::key_of(Rank from, Rank to) {
  const auto [low, high] = std::minmax({from.value(), to.value()});
  return static_cast<std::uint64_t>(low) << 32U | static_cast<std::uint32_t>(high);
}

bool Turns::enter(TransferIndex message, Rank from, Rank to) {
  Pair& pair = pairs_[key_of(from, to)];
  const bool upwards = from < to;
  if (!pair.waiting.empty() || (pair.under_way > 0 && pair.upwards != upwards)) {
    pair.waiting.push_back({message, upwards});
    return false;
  }
  pair.upwards = upwards;
  ++pair.under_way;
  return true;
}

std::vector<TransferIndex> Turns::leave(Rank from, Rank to) {
  const auto found = pairs_.find(key_of(from, to));
  Pair& pair = found->second;
  std::vector<TransferIndex> next;
  if (--pair.under_way > 0) return next;
  if (pair.waiting.empty()) {
    pairs_.erase(found);
    return next;
  }
  pair.upwards = pair.waiting.front().upwards;
  while (!pair.waiting.empty() && pair.waiting.front().upwards == pair.upwards) {
    next.push_back(pair.waiting.front().message);
    pair.waiting.pop_front();
    ++pair.under_way;
  }
  return next;
}

}  // namespace thinwire::networks
