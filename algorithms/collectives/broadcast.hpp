// Broadcast by a binomial tree.
#pragma once

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Every rank ends with the message of `root`; the messages of the others are ignored.
/// Schedule: ranks are numbered from the root; in step s the ranks below 2^s send to rank + 2^s.
/// Cost for L words: ceil(log P) (α + Lβ), at any P.
[[nodiscard]] Task<Message> broadcast(Communicator& comm, Rank root, Message mine);

}  // namespace thinwire::algorithms
