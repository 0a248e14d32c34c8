// What every network says of schedules that do not come to a good end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// Throws SimulationError where `comm` names a peer that is no rank.
void check_peer(const Communicator& comm, Rank peer);

/// Throws InputError where the hosts that were given to a network on a platform are not as many as
/// the ranks.
void check_places(const std::string& platform, int ranks, std::size_t hosts);

/// A rank has one second strand: what runs there starts nothing.
[[noreturn]] void throw_started_by_second(Rank rank);

/// Somebody who waits when nothing moves any more.
struct Waiting {
  enum class For : std::uint8_t {
    message,  ///< of the peer
    taking,   ///< the peer has to receive
    started   ///< what the rank itself has started; there is no peer
  };

  Rank rank;
  Rank peer;
  Tag tag;
  For what = For::message;
  Strand strand = Strand::main;  ///< which of the rank's strands waits
};

[[noreturn]] void throw_deadlock(std::size_t waiting_ranks, std::size_t ranks,
                                 const std::vector<Waiting>& waits);

[[noreturn]] void throw_unreceived(Rank from, Rank to, Tag tag, Words words,
                                   Strand strand = Strand::main);

/// Throws UnmatchedError where, after the last rank has ended, a mailbox holds what nobody asked
/// for or nobody sent, or a slot is still in use. Mailboxes are indexed by rank; those of the
/// second strands, if any, come after those of the first ones.
void check_matched(const std::vector<const Mailbox*>& mailboxes, std::size_t ranks,
                   const SlotPool& slots);

}  // namespace thinwire::networks
