// Programs that fail on every network.
#pragma once

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"
#include "tests/support/bodies.hpp"

namespace thinwire::test {

/// A deadlock: every rank waits for the next one, and rank 0 for a send that no rank receives.
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
