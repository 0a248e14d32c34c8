#include "sim/machine/networks/common/turns.hpp"

#include <algorithm>

namespace thinwire::networks {

namespace {

std::uint64_t key_of(Rank first, Rank second) {
  return static_cast<std::uint64_t>(first.value()) << 32U |
         static_cast<std::uint32_t>(second.value());
}
std::uint64_t key_of_pair(Rank from, Rank to) {
  return from < to ? key_of(from, to) : key_of(to, from);
}

}  // namespace

bool Turns::enter(TransferIndex message, Rank from, Rank to) {
  Pair& pair = pairs_[key_of_pair(from, to)];
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
  const auto found = pairs_.find(key_of_pair(from, to));
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

bool Connections::enter(TransferIndex message, Rank from, Rank to) {
  const auto [found, added] = waiting_.try_emplace(key_of(from, to));
  if (!added) found->second.push_back(message);
  return added;
}

std::optional<TransferIndex> Connections::leave(Rank from, Rank to) {
  const auto found = waiting_.find(key_of(from, to));
  if (found->second.empty()) {
    waiting_.erase(found);
    return {};
  }
  const TransferIndex next = found->second.front();
  found->second.pop_front();
  return next;
}

bool Destinations::enter(TransferIndex message, Rank from, Rank to) {
  Sender& sender = senders_[static_cast<std::size_t>(from.value())];
  if (reach(sender, to)) return true;
  sender.waiting.push_back({message, to});
  return false;
}

std::vector<TransferIndex> Destinations::leave(Rank from, Rank to) {
  Sender& sender = senders_[static_cast<std::size_t>(from.value())];
  const auto found = std::ranges::find(sender.reached, to, &Destination::rank);
  std::vector<TransferIndex> next;
  if (--found->under_way > 0) return next;
  sender.reached.erase(found);
  while (!sender.waiting.empty() && reach(sender, sender.waiting.front().to)) {
    next.push_back(sender.waiting.front().message);
    sender.waiting.pop_front();
  }
  return next;
}

/// Counts a message to `to`, unless that would be a destination too many.
bool Destinations::reach(Sender& sender, Rank to) const {
  const auto found = std::ranges::find(sender.reached, to, &Destination::rank);
  if (found != sender.reached.end()) {
    ++found->under_way;
    return true;
  }
  if (sender.reached.size() == limit_) return false;
  sender.reached.push_back({to, 1});
  return true;
}

}  // namespace thinwire::networks
