// The errors that all networks report for schedules that do not complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/reducing_switches.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// Throws SimulationError when `peer` is not a rank.
void check_peer(const Communicator& comm, Rank peer);
/// Throws SimulationError when local work takes no finite time, or a negative one.
void check_work(Seconds work);

/// Throws InputError when a network on a platform has been given a number of hosts that differs
/// from the number of ranks.
void check_places(const std::string& platform, int ranks, std::size_t hosts);

/// Reports that a program on a second strand started another program, which is not allowed.
[[noreturn]] void throw_started_by_second(Rank rank);

/// A strand that still waits when no message is in flight any more, and what it waits for.
struct Waiting {
  enum class For : std::uint8_t {
    message,  ///< a message from the peer
    taking,   ///< a receive that the peer has to post
    started   ///< a program that the rank itself has started; there is no peer
  };

  Rank rank;
  Rank peer;
  Tag tag;
  For what = For::message;
  Strand strand = Strand::main;  ///< which of the rank's strands waits
};

/// Throws InputError because a simulated time is infinite.
[[noreturn]] void throw_time_overflow();
/// No switch of this level sums.
[[noreturn]] void throw_no_reducing_switches(ReducingLevel level);

[[noreturn]] void throw_deadlock(std::size_t waiting_ranks, std::size_t ranks,
                                 const std::vector<Waiting>& waits);

[[noreturn]] void throw_unreceived(Rank from, Rank to, Tag tag, Words words,
                                   Strand strand = Strand::main);

/// Called when the last rank has ended. Throws UnmatchedError if a mailbox holds an unmatched
/// message or receive, or if a slot is still in use. Mailboxes are indexed by rank; the
/// mailboxes of second strands, if any, follow the mailboxes of main strands.
void check_matched(const std::vector<const Mailbox*>& mailboxes, std::size_t ranks,
                   const SlotPool& slots);

}  // namespace thinwire::networks
