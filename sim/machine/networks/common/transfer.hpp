// A message between its posting and its completion.
#pragma once

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// A message that is posted and not yet delivered. Times are in seconds. `Way` is the network's
/// name for the route of a pair of ranks.
template <class Way>
struct alignas(64) Transfer {
  [[no_unique_address]] Way way;
  Rank from;
  Rank to;
  Tag tag;
  Strand strand;
  bool eager;     ///< does not wait for its receiver
  bool released;  ///< may depart
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;        ///< of its minimal route
  double extra_latency;  ///< of its path, beyond that
};

}  // namespace thinwire::networks
