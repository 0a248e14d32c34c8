// A message between its posting and its completion.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"

namespace thinwire::networks {

/// What a transfer takes. A detour and the ways of switches have a RareTransfer.
enum class Course : std::uint8_t {
  minimal,         ///< a path as short as its minimal route
  detour,          ///< a longer path
  to_switches,     ///< of a collective in switches: from member `from` to them
  from_switches,   ///< and back to it
  acknowledgement  ///< no message: of one to `from`, for which others of this rank wait
};

/// A message that is posted and not yet delivered. Times are in seconds. `Way` is the type with
/// which the network identifies the route between two ranks. It fits in one cache line.
template <class Way>
struct alignas(64) Transfer {
  [[no_unique_address]] Way way;
  Rank from;
  Rank to;
  Strand strand;
  bool eager;  ///< begins before its receive is posted
  Course course;
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;  ///< of its minimal route

  [[nodiscard]] bool in_switches() const {
    return course == Course::to_switches || course == Course::from_switches;
  }
};

/// What only some transfers have, by their course, or where few ranks stand for all.
struct RareTransfer {
  double extra_latency = 0;  ///< of a detour, in addition to the latency of the minimal route
  SumIndex sum = kNoSum;     ///< the collective in switches
  Ends ends;                 ///< of its route
};

}  // namespace thinwire::networks
