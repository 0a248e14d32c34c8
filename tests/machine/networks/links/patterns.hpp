// Programs and platforms for the tests of network links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "tests/support/bodies.hpp"

namespace thinwire::test {

/// Rank r of the first half sends `words` to rank r of the second half.
inline Task<void> to_the_other_half(Communicator& comm, std::int64_t words) {
  const int half = comm.size() / 2;
  const int rank = comm.rank().value();
  if (rank < half) {
    co_await comm.wait(comm.isend(Rank(rank + half), Tag(0), empty_message(words)));
  } else if (rank < 2 * half) {
    co_await comm.wait(comm.irecv(Rank(rank - half), Tag(0)));
  }
}

/// Rank r sends to rank r + distance and receives from rank r - distance, so many times.
inline Task<void> shifts(Communicator& comm, std::int64_t words, int rounds, int distance) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  const Rank to((rank + distance) % size);
  const Rank from((rank + size - distance % size) % size);
  for (int round = 0; round < rounds; ++round) {
    co_await comm.sendrecv(to, empty_message(words), from, Tag(0));
  }
}

inline Task<void> ring(Communicator& comm, std::int64_t words, int rounds) {
  return shifts(comm, words, rounds, 1);
}

/// Every rank sends to every other one, in rotation, with up to `window` messages in flight.
inline Task<void> all_to_all(Communicator& comm, std::int64_t words, int window) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  std::vector<Request> requests;
  for (int step = 1; step < size; ++step) {
    requests.push_back(comm.irecv(Rank((rank + size - step) % size), Tag(0)));
    requests.push_back(comm.isend(Rank((rank + step) % size), Tag(0), empty_message(words + step)));
    if (step % window == 0 || step == size - 1) {
      co_await comm.wait_all(requests);
      requests.clear();
    }
  }
}

/// All others send `words` to rank 0.
inline Task<void> incast(Communicator& comm, std::int64_t words) {
  if (comm.rank() == Rank(0)) {
    std::vector<Request> requests;
    for (int rank = 1; rank < comm.size(); ++rank) {
      requests.push_back(comm.irecv(Rank(rank), Tag(0)));
    }
    co_await comm.wait_all(requests);
  } else {
    co_await comm.wait(comm.isend(Rank(0), Tag(0), empty_message(words)));
  }
}

/// A dumbbell whose middle is a fat pipe.
[[nodiscard]] inline std::string with_fat_middle(std::string dumbbell) {
  const std::string link = R"(<link id="middle")";
  dumbbell.insert(dumbbell.find(link) + link.size(), R"( sharing_policy="FATPIPE")");
  return dumbbell;
}

}  // namespace thinwire::test
