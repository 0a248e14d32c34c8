#include "algorithms/collectives/reduce_scatter.hpp"

#include <utility>
#include <vector>

#include "algorithms/collectives/sized_rounds.hpp"
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
  if (reduction.has_length_alone(mine)) {
    const auto piece_of = [&](std::size_t /*at*/, int block) {
      return reduction.cut(mine, {pieces.of(block), pieces.of(block) + 1}, all);
    };
    const Rounds turn{.count = size - 1, .piece = pieces.shift - 1, .next_piece = -1, .sums = true};
    const SizedRounds rounds(reduction, {turn}, piece_of);
    co_await comm.take_rounds(rounds, kReduceScatterTag);
    co_return reduction.cut(mine, piece_after(size - 1), all);
  }
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

int Halves::distance(int step) const {
  return distances == Distances::descending ? places >> (step + 1) : 1 << step;
}

PieceRange Halves::kept(int place, int steps) const {
  PieceRange range{0, places};
  for (int step = 0; step < steps; ++step) {
    const int middle = (range.first + range.last) / 2;
    ((place & distance(step)) != 0 ? range.first : range.last) = middle;
  }
  return range;
}

PieceRange Halves::sent(int place, int step) const {
  return kept(place ^ distance(step), step + 1);
}

int Halves::told(int steps) const {
  int bits = 0;
  for (int step = 0; step < steps; ++step) bits |= distance(step);
  return bits;
}

Task<Halved> reduce_by_halving(Communicator& comm, Core core, Message held,
                               const Reduction& reduction, int pieces, Distances distances) {
  const auto pieces_of = [&](PieceRange places) {
    return pieces == core.size() ? places : core.ranks_of(places);
  };
  const Halves halves{.places = core.size(), .distances = distances};
  const PieceRange last = pieces_of(halves.kept(core.place(), halves.steps()));
  if (core.size() == comm.size() && reduction.has_length_alone(held)) {
    std::vector<Rounds> all;
    all.reserve(static_cast<std::size_t>(halves.steps()));
    for (int step = 0; step < halves.steps(); ++step) {
      all.push_back({.distance = halves.distance(step),
                     .flips = true,
                     .sums = true,
                     .tells = halves.told(step + 1)});
    }
    const SizedRounds rounds(reduction, std::move(all), [&](std::size_t step, int place) {
      return reduction.cut(held, halves.sent(place, static_cast<int>(step)), pieces);
    });
    co_await comm.take_rounds(rounds, kReduceScatterTag);
    co_return Halved{reduction.cut(held, last, pieces), last};
  }
  for (int step = 0; step < halves.steps(); ++step) {
    const PieceRange sent = halves.sent(core.place(), step);
    const Rank peer = core.at(core.place() ^ halves.distance(step));
    const Message theirs = co_await comm.sendrecv(
        peer, reduction.cut(held, pieces_of(sent), pieces), peer, kReduceScatterTag);
    const Part part{pieces_of(halves.kept(core.place(), step + 1)), pieces};
    Summed summed = reduction.sum(reduction.cut(held, part.range, pieces), theirs, part);
    co_await comm.compute(summed.work);
    held = std::move(summed.message);
  }
  co_return Halved{std::move(held), last};
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
  if (reduction.has_length_alone(mine)) {
    const Rounds turn{
        .count = size - 1, .next_distance = 1, .piece = 1, .next_piece = 1, .sums = true};
    const SizedRounds rounds(reduction, {turn},
                             [&](std::size_t /*at*/, int piece) { return piece_of(piece); });
    co_await comm.take_rounds(rounds, kReduceScatterTag);
    co_return piece_of(rank);
  }
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
