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

bool Destinations::enter(TransferIndex message, Rank from, Rank to, double time) {
  Sender& own = sender(from);
  Destination* const found = usable(own, to, time);
  if (found == nullptr || (found->rank != to && !own.waiting.empty())) {
    own.waiting.push_back({message, to});
    return false;
  }
  found->rank = to;
  ++found->under_way;
  return true;
}

void Destinations::deliver(Rank from, Rank to, double time) {
  Destination& reached = *std::ranges::find_if(sender(from).reached, [to](const Destination& one) {
    return one.rank == to && one.under_way > 0;
  });
  --reached.under_way;
  reached.acknowledged = std::max(reached.acknowledged, time);
}

std::vector<TransferIndex> Destinations::admit(Rank from, double time) {
  Sender& own = sender(from);
  std::vector<TransferIndex> entering;
  while (!own.waiting.empty()) {
    Destination* const found = usable(own, own.waiting.front().to, time);
    if (found == nullptr) break;
    found->rank = own.waiting.front().to;
    ++found->under_way;
    entering.push_back(own.waiting.front().message);
    own.waiting.pop_front();
  }
  return entering;
}

std::optional<double> Destinations::next_admission(Rank from) const {
  const Sender& own = senders_[static_cast<std::size_t>(from.value())];
  std::optional<double> next;
  if (own.waiting.empty()) return next;
  for (const Destination& one : own.reached) {
    if (one.under_way == 0 && (!next || one.acknowledged < *next)) next = one.acknowledged;
  }
  return next;
}

Destinations::Destination* Destinations::usable(Sender& sender, Rank to, double time) const {
  Destination* free = nullptr;
  for (Destination& one : sender.reached) {
    const bool acknowledged = one.under_way == 0 && one.acknowledged <= time;
    if (one.rank == to && !acknowledged) return &one;
    if (acknowledged && free == nullptr) free = &one;
  }
  if (free == nullptr && sender.reached.size() < limit_) {
    free = &sender.reached.emplace_back(Destination{to, 0, 0});
  }
  return free;
}

}  // namespace thinwire::networks
