#include "sim/networks/common/complaints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/errors.hpp"

namespace thinwire {

namespace {

std::string unreceived_text(Rank from, Rank to, Tag tag, Words words) {
  return fmt::format("rank {} sent {} words to rank {} (tag {}) and nobody received them",
                     from.value(), words.value(), to.value(), tag.value());
}

}  // namespace

void throw_unreceived(Rank from, Rank to, Tag tag, Words words) {
  throw UnmatchedError(unreceived_text(from, to, tag, words));
}

void check_peer(const Communicator& comm, Rank peer) {
  if (peer.value() < 0 || peer.value() >= comm.size()) {
    throw SimulationError(fmt::format("rank {} names rank {} as its peer, but ranks are 0 to {}",
                                      comm.rank().value(), peer.value(), comm.size() - 1));
  }
}

void throw_deadlock(std::size_t waiting_ranks, std::size_t ranks,
                    const std::vector<Waiting>& waits) {
  constexpr std::size_t kNamed = 8;
  std::string text =
      fmt::format("deadlock: {} of {} ranks wait and nothing is in flight:", waiting_ranks, ranks);
  for (std::size_t i = 0; i < std::min(kNamed, waits.size()); ++i) {
    text += fmt::format(" rank {} waits for rank {}{} (tag {});", waits[i].rank.value(),
                        waits[i].peer.value(), waits[i].to_send ? " to receive" : "",
                        waits[i].tag.value());
  }
  if (waits.size() > kNamed) text += fmt::format(" and {} more", waits.size() - kNamed);
  throw DeadlockError(text);
}

void check_matched(const std::vector<const Mailbox*>& mailboxes, const SlotPool& slots) {
  std::size_t count = 0;
  std::string first;
  for (std::size_t rank = 0; rank < mailboxes.size(); ++rank) {
    for (const SlotIndex index : mailboxes[rank]->unmatched()) {
      const Slot& slot = slots[index];
      if (count++ > 0) continue;
      first = slot.arrived
                  ? unreceived_text(slot.from, Rank(static_cast<std::int32_t>(rank)), slot.tag,
                                    slot.message.words)
                  : fmt::format("rank {} posted a receive from rank {} (tag {}) and nothing came",
                                rank, slot.from.value(), slot.tag.value());
    }
  }
  if (count == 0 && slots.in_use() > 0) {
    throw UnmatchedError(fmt::format(
        "{} receives were posted and complete, and nobody waited for them", slots.in_use()));
  }
  if (count == 0) return;
  if (count > 1) first += fmt::format("; and {} more pairs of ranks like this", count - 1);
  throw UnmatchedError(first);
}

}  // namespace thinwire
