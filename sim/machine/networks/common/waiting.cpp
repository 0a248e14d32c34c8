#include "sim/machine/networks/common/waiting.hpp"

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
  Destination* found = reached(own, to, time);
  if (found != nullptr) {
    const bool overtakes = std::ranges::find(own.waiting, to, &Waiting::to) != own.waiting.end();
    if (overtakes) found = nullptr;
  } else if (own.waiting.empty()) {
    found = free_one(own, time);
  }
  if (found == nullptr) {
    own.waiting.push_back({message, to});
    return false;
  }
  found->rank = to;
  ++found->under_way;
  return true;
}

void Destinations::deliver(Rank from, Rank to, double time) {
  Destination& of_message = *std::ranges::find_if(
      sender(from).reached,
      [to](const Destination& one) { return one.rank == to && one.under_way > 0; });
  --of_message.under_way;
  of_message.acknowledged = std::max(of_message.acknowledged, time);
}

std::optional<double> Destinations::next_admission(Rank from, double now) {
  Sender& own = sender(from);
  if (own.waiting.empty()) return {};
  double next = kNever;
  for (const Destination& one : own.reached) {
    if (one.under_way == 0) next = std::min(next, std::max(now, one.acknowledged));
  }
  if (next >= own.awaited) return {};
  own.awaited = next;
  return next;
}

std::vector<Destinations::Admitted> Destinations::admit(Rank from, double time) {
  Sender& own = sender(from);
  std::vector<Admitted> entering;
  if (own.awaited != time) return entering;
  own.awaited = kNever;
  while (!own.waiting.empty()) {
    const auto [message, to] = own.waiting.front();
    Destination* found = reached(own, to, time);
    double since = 0;
    if (found == nullptr) {
      found = free_one(own, time);
      if (found == nullptr) break;
      since = found->acknowledged;
    }
    found->rank = to;
    ++found->under_way;
    entering.push_back({message, since});
    own.waiting.pop_front();
  }
  return entering;
}

Destinations::Destination* Destinations::reached(Sender& sender, Rank to, double time) {
  const auto found = std::ranges::find_if(sender.reached, [&](const Destination& one) {
    return one.rank == to && (one.under_way > 0 || one.acknowledged > time);
  });
  return found == sender.reached.end() ? nullptr : &*found;
}

Destinations::Destination* Destinations::free_one(Sender& sender, double time) const {
  Destination* first = nullptr;
  for (Destination& one : sender.reached) {
    const bool free = one.under_way == 0 && one.acknowledged <= time;
    if (free && (first == nullptr || one.acknowledged < first->acknowledged)) first = &one;
  }
  if (first != nullptr || sender.reached.size() == limit_) return first;
  return &sender.reached.emplace_back(Destination{Rank(0), 0, 0});
}

}  // namespace thinwire::networks
