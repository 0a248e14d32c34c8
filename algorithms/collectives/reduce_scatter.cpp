#include "algorithms/collectives/reduce_scatter.hpp"

#include <utility>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

Task<Message> reduce_around_ring(Communicator& comm, Message mine, const Reduction& reduction,
                                 RingPieces pieces) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % size);
  const Rank previous((rank + size - 1) % size);
  const int all = size * pieces.segments;
  const auto piece_after = [&](int steps) {
    const int block = (rank + pieces.shift - 1 - steps + 2 * size) % size;
    return PieceRange{pieces.of(block), pieces.of(block) + 1};
  };
  Message moving = reduction.cut(mine, piece_after(0), all);
  for (int step = 1; step < size; ++step) {
    const Message received =
        co_await comm.sendrecv(next, std::move(moving), previous, kReduceScatterTag);
    const PieceRange piece = piece_after(step);
    const Part part{piece, all};
    Summed summed = reduction.sum(reduction.cut(mine, piece, all), received, part);
    co_await comm.compute(summed.work);
    moving = std::move(summed.message);
  }
  co_return moving;
}

Task<Halved> reduce_by_halving(Communicator& comm, Core core, Message held,
                               const Reduction& reduction, int pieces, Distances distances) {
  const auto pieces_of = [&](PieceRange places) {
    return pieces == core.size() ? places : core.ranks_of(places);
  };
  PieceRange range{0, core.size()};
  for (int width = core.size() / 2; width > 0; width /= 2) {
    const int distance = distances == Distances::descending ? width : core.size() / (2 * width);
    const int middle = range.first + width;
    PieceRange kept{range.first, middle};
    PieceRange sent{middle, range.last};
    if ((core.place() & distance) != 0) std::swap(kept, sent);
    const Rank peer = core.at(core.place() ^ distance);
    const Message theirs = co_await comm.sendrecv(
        peer, reduction.cut(held, pieces_of(sent), pieces), peer, kReduceScatterTag);
    const Part part{pieces_of(kept), pieces};
    Summed summed = reduction.sum(reduction.cut(held, part.range, pieces), theirs, part);
    co_await comm.compute(summed.work);
    held = std::move(summed.message);
    range = kept;
  }
  co_return Halved{std::move(held), pieces_of(range)};
}

Task<Message> reduce_scatter_ring(Communicator& comm, Message mine, const Reduction& reduction) {
  return reduce_around_ring(comm, std::move(mine), reduction, {});
}

Task<Message> reduce_scatter_recursive_halving(Communicator& comm, Message mine,
                                               const Reduction& reduction) {
  const Core core(comm);
  const int pieces = comm.size();
  mine = co_await fold_in(comm, core, std::move(mine), reduction);
  Message of_partner;
  if (!core.folds_in()) {
    const Halved halved = co_await reduce_by_halving(comm, core, std::move(mine), reduction, pieces,
                                                     Distances::descending);
    const auto piece_of = [&](Rank rank) {
      return reduction.cut(halved.message, {rank.value(), rank.value() + 1}, pieces);
    };
    mine = piece_of(comm.rank());
    if (core.paired()) of_partner = piece_of(core.partner());
  }
  co_return co_await fold_out(comm, core, std::move(mine), std::move(of_partner));
}

Task<Message> reduce_scatter_pairwise(Communicator& comm, Message mine,
                                      const Reduction& reduction) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  const auto piece_of = [&](int r) { return reduction.cut(mine, {r, r + 1}, size); };
  const Part own{{rank, rank + 1}, size};
  Message total = piece_of(rank);
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size;
    const Rank from((rank + size - step) % size);
    const Message theirs = co_await comm.sendrecv(Rank(to), piece_of(to), from, kReduceScatterTag);
    Summed summed = reduction.sum(total, theirs, own);
    co_await comm.compute(summed.work);
    total = std::move(summed.message);
  }
  co_return total;
}

}  // namespace thinwire::algorithms
