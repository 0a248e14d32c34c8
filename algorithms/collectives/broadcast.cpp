#include "algorithms/collectives/broadcast.hpp"

#include <bit>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

Task<Message> broadcast(Communicator& comm, Rank root, Message mine) {
  const int size = comm.size();
  const int place = (comm.rank().value() - root.value() + size) % size;
  const auto rank_at = [&](int p) { return Rank((p + root.value()) % size); };

  int distance = 1;  // the first step in which this rank sends
  if (place > 0) {
    const int parent_distance = static_cast<int>(std::bit_floor(static_cast<unsigned>(place)));
    mine = co_await comm.wait(comm.irecv(rank_at(place - parent_distance), kBroadcastTag));
    distance = 2 * parent_distance;
  }
  for (; place + distance < size; distance *= 2) {
    co_await comm.wait(comm.isend(rank_at(place + distance), kBroadcastTag, mine));
  }
  co_return mine;
}

}  // namespace thinwire::algorithms
