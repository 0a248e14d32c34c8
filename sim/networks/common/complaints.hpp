// What every network says of schedules that do not come to a good end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/communicator.hpp"
#include "sim/networks/common/mailbox.hpp"

namespace thinwire {

/// Throws SimulationError where `comm` names a peer that is no rank.
void check_peer(const Communicator& comm, Rank peer);

/// Somebody who waits when nothing moves any more.
struct Waiting {
  Rank rank;
  Rank peer;
  Tag tag;
  bool to_send = false;  ///< for the peer to take a message; else for a message of the peer
};

[[noreturn]] void throw_deadlock(std::size_t waiting_ranks, std::size_t ranks,
                                 const std::vector<Waiting>& waits);

[[noreturn]] void throw_unreceived(Rank from, Rank to, Tag tag, Words words);

/// Throws UnmatchedError where, after the last rank has ended, a mailbox (indexed by rank) holds
/// what nobody asked for or nobody sent, or a slot is still in use.
void check_matched(const std::vector<const Mailbox*>& mailboxes, const SlotPool& slots);

}  // namespace thinwire
