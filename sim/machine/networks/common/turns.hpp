// Turns of the two directions between pairs of ranks, for messages that cannot pass each other.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// For each pair of ranks, the messages under way, which all go the same way, and those that wait.
/// Messages begin in the order in which they came.
class Turns {
 public:
  /// A message wants to leave. Returns false if it has to wait; leave() then returns it later.
  bool enter(TransferIndex message, Rank from, Rank to);
  /// A message that had entered is delivered. Returns the messages that enter now.
  std::vector<TransferIndex> leave(Rank from, Rank to);

 private:
  struct Waiting {
    TransferIndex message;
    bool upwards;  ///< to the higher rank
  };
  struct Pair {
    int under_way = 0;
    bool upwards = false;  ///< the way of those under way
    std::deque<Waiting> waiting;
  };
  static std::uint64_t key_of(Rank from, Rank to);

  std::unordered_map<std::uint64_t, Pair> pairs_;  ///< those with messages
};

}  // namespace thinwire::networks
