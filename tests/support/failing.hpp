// Programs that come to no good end, on whichever network.
#pragma once

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"
#include "tests/support/bodies.hpp"

namespace thinwire::test {

/// Everybody waits for the next rank; rank 0 takes the send that nobody receives.
inline Task<void> ring_of_waits(Communicator& comm) {
  const Rank next((comm.rank().value() + 1) % comm.size());
  if (comm.rank() == Rank(0)) {
    co_await comm.wait(comm.isend(next, Tag(9), empty_message(5)));
  } else {
    co_await comm.wait(comm.irecv(next, Tag(3)));
  }
}

/// Rank 1 posts a receive and ends.
inline Task<void> received_for_nothing(Communicator& comm) {
  if (comm.rank() == Rank(1)) static_cast<void>(comm.irecv(Rank(0), Tag(7)));
  co_return;
}

}  // namespace thinwire::test
