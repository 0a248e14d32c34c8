// A rank that takes what comes first, of its messages and of its work.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/network.hpp"
#include "tests/support/bodies.hpp"

namespace thinwire::test {

/// What was first, and when.
struct Firsts {
  std::vector<std::size_t> positions;
  std::vector<double> times;
};

/// Rank 0 waits for the first of a message of each other rank, and of its own work, which is the
/// last in its list, until all have come. `watched`: it watches all of them from the beginning.
inline Task<void> take_all(Communicator& comm, double work, Firsts& firsts, bool watched) {
  std::vector<Request> open;
  std::vector<std::size_t> which;
  for (int from = 1; from < comm.size(); ++from) open.push_back(comm.irecv(Rank(from), Tag(0)));
  open.push_back(comm.start_work(Seconds(work)));
  for (std::size_t i = 0; i < open.size(); ++i) which.push_back(i);
  for (const Request request : open) {
    if (watched) comm.watch(request);
  }
  while (!open.empty()) {
    auto awaiter = watched ? comm.wait_watched(open) : comm.wait_any(open);
    const auto first = co_await awaiter;
    firsts.positions.push_back(which[first.position]);
    firsts.times.push_back(comm.now().value());
    const auto at = static_cast<std::ptrdiff_t>(first.position);
    open.erase(open.begin() + at);
    which.erase(which.begin() + at);
  }
}

inline Task<void> send_at(Communicator& comm, double at, std::int64_t words) {
  co_await comm.compute(Seconds(at));
  co_await comm.wait(comm.isend(Rank(0), Tag(0), empty_message(words)));
}

/// Rank i + 1 sends to rank 0 at time at[i].
inline Firsts firsts_on(Network& network, const std::vector<double>& at, double work,
                        std::int64_t words = 1, bool watched = false) {
  Firsts firsts;
  network.run(static_cast<int>(at.size()) + 1, [&](Communicator& comm) {
    const int rank = comm.rank().value();
    return rank == 0 ? take_all(comm, work, firsts, watched)
                     : send_at(comm, at[static_cast<std::size_t>(rank) - 1], words);
  });
  return firsts;
}

}  // namespace thinwire::test
