#include "algorithms/collectives/allgather.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/collectives/represented_parts.hpp"
#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

Task<Concatenation> gather_by_doubling(Communicator& comm, Core core, Concatenation own,
                                       Distances distances, std::optional<int> place) {
  Concatenation held = std::move(own);
  for (int width = 1; width < core.size(); width *= 2) {
    const int distance = distances == Distances::ascending ? width : core.size() / (2 * width);
    const Rank peer = core.at(core.place() ^ distance);
    const Request receive = comm.irecv(peer, kAllgatherTag);
    const Request send =
        place ? comm.isend_between({.from = Rank(*place), .to = Rank(*place ^ width)}, peer,
                                   kAllgatherTag, held.message())
              : comm.isend(peer, kAllgatherTag, held.message());
    const Message received = co_await Communicator::SendrecvAwaiter(comm, send, receive);
    const Concatenation theirs = Concatenation::from(received.payload);
    const bool first = (core.place() & distance) == 0;
    held = first ? Concatenation::join(held, theirs) : Concatenation::join(theirs, held);
  }
  co_return held;
}

Task<Concatenation> gather_around_ring(Communicator& comm, Concatenation::Piece own) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  const Rank next((rank + 1) % size);
  const Rank previous((rank + size - 1) % size);
  std::vector<Concatenation::Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(size));
  pieces.push_back(std::move(own));
  for (int step = 1; step < size; ++step) {
    Message received = co_await comm.sendrecv(next, pieces.back().message, previous, kAllgatherTag);
    const Rank from((pieces.back().from.value() + size - 1) % size);
    pieces.push_back({from, std::move(received)});
  }
  co_return Concatenation::of(std::move(pieces));
}

Task<Concatenation> allgather(Communicator& comm, Message mine) {
  if (!std::has_single_bit(static_cast<unsigned>(comm.size()))) {
    return allgather_bruck(comm, std::move(mine));
  }
  const Core core(comm);
  Concatenation own = Concatenation::of(comm.rank(), std::move(mine));
  const int running = comm.size() / comm.stands_for();
  if (running == comm.size()) {
    return gather_by_doubling(comm, core, std::move(own), Distances::ascending);
  }
  // Representatives of ranks with the same low bits, whose own pieces differ, meet at small distances.
  // The largest messages should be those that differ, as among neighbours that hold halves of the
  // gradient. Where ranks have places, messages still go as far as if the small distances came first,
  // from the place of the rank's group of parts.
  std::optional<int> place;
  if (comm.have_places()) {
    place = static_cast<int>(group_of(static_cast<std::uint32_t>(comm.rank().value() % running),
                                      static_cast<std::uint32_t>(running)));
  }
  return gather_by_doubling(comm, core, std::move(own), Distances::descending, place);
}

Task<Concatenation> allgather_bruck(Communicator& comm, Message mine) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  Concatenation held = Concatenation::of(comm.rank(), std::move(mine));
  for (int distance = 1; distance < size; distance *= 2) {
    const Rank to((rank - distance + size) % size);
    const Rank from((rank + distance) % size);
    const Concatenation sent = held.first(std::min(distance, size - distance));
    const Message received = co_await comm.sendrecv(to, sent.message(), from, kAllgatherTag);
    held = Concatenation::join(held, Concatenation::from(received.payload));
  }
  co_return held;
}

Task<Concatenation> allgather_ring(Communicator& comm, Message mine) {
  return gather_around_ring(comm, {comm.rank(), std::move(mine)});
}

Task<Concatenation> allgather_neighbor_exchange(Communicator& comm, Message mine) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  if (size % 2 != 0) co_return co_await allgather_ring(comm, std::move(mine));
  const int towards = rank % 2 == 0 ? 1 : size - 1;
  const Rank partner((rank + towards) % size);
  const Rank other((rank + size - towards) % size);
  const Concatenation own = Concatenation::of(comm.rank(), std::move(mine));
  const Message of_partner = co_await comm.sendrecv(partner, own.message(), partner, kAllgatherTag);
  Concatenation pair = Concatenation::join(own, Concatenation::from(of_partner.payload));
  Concatenation held = pair;
  for (int step = 1; step < size / 2; ++step) {
    const Rank peer = step % 2 == 0 ? partner : other;
    const Message received = co_await comm.sendrecv(peer, pair.message(), peer, kAllgatherTag);
    pair = Concatenation::from(received.payload);
    held = Concatenation::join(held, pair);
  }
  co_return held;
}

}  // namespace thinwire::algorithms
