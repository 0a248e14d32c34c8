#include "algorithms/collectives/allgather.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

Task<Concatenation> recursive_doubling(Communicator& comm, Concatenation held) {
  const int rank = comm.rank().value();
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    const Rank peer(rank ^ distance);
    const Message received = co_await comm.sendrecv(peer, held.message(), peer, kAllgatherTag);
    const Concatenation theirs = Concatenation::from(received.payload);
    held =
        comm.rank() < peer ? Concatenation::join(held, theirs) : Concatenation::join(theirs, held);
  }
  co_return held;
}

Task<Concatenation> dissemination(Communicator& comm, Concatenation held) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  for (int distance = 1; distance < size; distance *= 2) {
    const Rank to((rank - distance + size) % size);
    const Rank from((rank + distance) % size);
    const Concatenation sent = held.first(std::min(distance, size - distance));
    const Message received = co_await comm.sendrecv(to, sent.message(), from, kAllgatherTag);
    held = Concatenation::join(held, Concatenation::from(received.payload));
  }
  co_return held;
}

}  // namespace

Task<Concatenation> allgather(Communicator& comm, Message mine) {
  const Concatenation own = Concatenation::of(comm.rank(), std::move(mine));
  if (std::has_single_bit(static_cast<unsigned>(comm.size()))) {
    co_return co_await recursive_doubling(comm, own);
  }
  co_return co_await dissemination(comm, own);
}

Task<Concatenation> allgather_ring(Communicator& comm, Message mine) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  const Rank next((rank + 1) % size);
  const Rank previous((rank + size - 1) % size);
  Concatenation moving = Concatenation::of(comm.rank(), std::move(mine));
  Concatenation held = moving;
  for (int step = 1; step < size; ++step) {
    const Message received =
        co_await comm.sendrecv(next, moving.message(), previous, kAllgatherTag);
    moving = Concatenation::from(received.payload);
    held = Concatenation::join(held, moving);
  }
  co_return held;
}

}  // namespace thinwire::algorithms
