// A message between its posting and its completion.
#pragma once

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"

namespace thinwire::networks {

/// A message that is posted and not yet delivered. Times are in seconds. `Way` is the type with
/// which the network identifies the route between two ranks.
template <class Way>
struct alignas(64) Transfer {
  [[no_unique_address]] Way way;
  Rank from;
  Rank to;
  Tag tag;
  Strand strand;
  bool eager;            ///< begins before its receive is posted
  bool released;         ///< may depart, because it is eager or its receive is posted
  bool upwards = false;  ///< of a collective in switches: to the switches; else back from them
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;         ///< of its minimal route
  double extra_latency;   ///< latency of its path in addition to `latency`
  SumIndex sum = kNoSum;  ///< the collective in switches that it is a flow of, of member `from`
};

}  // namespace thinwire::networks
