#include "algorithms/collectives/allgather.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "algorithms/collectives/sized_rounds.hpp"
#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

/// What a rank has gathered so far.
class Gathering final : public DoublingPart {
 public:
  explicit Gathering(Concatenation own) : held_(std::move(own)) {}

  [[nodiscard]] Message outgoing() override { return held_.message(); }
  void incoming(Message message, bool after) override {
    const Concatenation theirs = Concatenation::from(message.payload);
    held_ = after ? Concatenation::join(held_, theirs) : Concatenation::join(theirs, held_);
  }
  [[nodiscard]] const Concatenation& held() const { return held_; }

 private:
  Concatenation held_;
};

Task<Concatenation> gather_by_doubling(Communicator& comm, Message mine) {
  Gathering gathering(Concatenation::of(comm.rank(), std::move(mine)));
  co_await comm.exchange_by_doubling(gathering, kAllgatherTag);
  co_return gathering.held();
}

}  // namespace

Task<Concatenation> gather_by_descending_distances(Communicator& comm, Core core,
                                                   Concatenation own) {
  Gathering gathering(std::move(own));
  for (int distance = core.size() / 2; distance >= 1; distance /= 2) {
    const Rank peer = core.at(core.place() ^ distance);
    Message message = co_await comm.sendrecv(peer, gathering.outgoing(), peer, kAllgatherTag);
    gathering.incoming(std::move(message), (core.place() & distance) == 0);
  }
  co_return gathering.held();
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

Task<void> gather_lengths_around_ring(Communicator& comm, const Message& whole,
                                      const Reduction& reduction, int shift, int pieces) {
  const int size = comm.size();
  const auto piece_of = [&](std::size_t /*at*/, int block) {
    return reduction.cut(whole, {block * pieces, (block + 1) * pieces}, size * pieces);
  };
  const Rounds turn{.count = size - 1, .piece = shift, .next_piece = -1};
  const SizedRounds rounds(reduction, {turn}, piece_of);
  co_await comm.take_rounds(rounds, kAllgatherTag);
}

Task<Concatenation> allgather(Communicator& comm, Message mine) {
  const bool power = std::has_single_bit(static_cast<unsigned>(comm.size()));
  return power ? gather_by_doubling(comm, std::move(mine)) : allgather_bruck(comm, std::move(mine));
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
