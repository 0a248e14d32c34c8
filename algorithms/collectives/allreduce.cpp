#include "algorithms/collectives/allreduce.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/folding.hpp"
#include "algorithms/collectives/pieces.hpp"
#include "algorithms/collectives/reduce.hpp"
#include "algorithms/collectives/reduce_scatter.hpp"
#include "algorithms/collectives/sized_rounds.hpp"
#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

/// The allgather after recursive halving, for values of which only the length counts: the halves come
/// back in the opposite order.
Task<void> gather_lengths_of_halves(Communicator& comm, Halves halves, const Message& whole,
                                    const Reduction& reduction) {
  std::vector<Rounds> all;
  all.reserve(static_cast<std::size_t>(halves.steps()));
  for (int step = halves.steps(); step > 0; --step) {
    all.push_back(
        {.distance = halves.distance(step - 1), .flips = true, .tells = halves.told(step)});
  }
  const SizedRounds rounds(reduction, std::move(all), [&](std::size_t at, int place) {
    const int steps = halves.steps() - static_cast<int>(at);
    return reduction.cut(whole, halves.kept(place, steps), halves.places);
  });
  co_await comm.take_rounds(rounds, kAllgatherTag);
}

/// Whether all ranks take rounds, in which nothing but lengths matter.
bool take_rounds(const Core& core, const Communicator& comm, const Message& held,
                 const Reduction& reduction) {
  return core.size() == comm.size() && reduction.has_length_alone(held);
}

Task<Message> doubling(Communicator& comm, Core core, Message held, const Reduction& reduction) {
  if (take_rounds(core, comm, held, reduction)) {
    std::vector<Rounds> all;
    for (int distance = 1; distance < core.size(); distance *= 2) {
      all.push_back({.distance = distance, .flips = true, .sums = true, .tells = 0});
    }
    const SizedRounds rounds(reduction, std::move(all),
                             [&](std::size_t /*at*/, int /*piece*/) { return held; });
    co_await comm.take_rounds(rounds, kAllreduceTag);
    co_return held;
  }
  for (int distance = 1; distance < core.size(); distance *= 2) {
    const Rank peer = core.at(core.place() ^ distance);
    const Message theirs = co_await comm.sendrecv(peer, held, peer, kAllreduceTag);
    Summed summed = reduction.shared_sum(held, theirs);
    co_await comm.compute(summed.work);
    held = std::move(summed.message);
  }
  co_return held;
}

Task<Message> halving_then_doubling(Communicator& comm, Core core, Message held,
                                    const Reduction& reduction) {
  const int pieces = core.size();
  std::optional<Message> length;
  if (take_rounds(core, comm, held, reduction)) length = held;
  Halved own = co_await reduce_by_halving(comm, core, std::move(held), reduction, pieces,
                                          Distances::ascending);
  if (length) {
    const Halves halves{.places = core.size(), .distances = Distances::ascending};
    co_await gather_lengths_of_halves(comm, halves, *length, reduction);
    co_return std::move(*length);
  }
  const Concatenation piece = Concatenation::of(Rank(own.range.first), std::move(own.message));
  const Concatenation all = co_await gather_by_descending_distances(comm, core, piece);
  const Part whole{{0, pieces}, pieces};
  co_return reduction.join(all, whole);
}

}  // namespace

Task<Message> allreduce_recursive_doubling(Communicator& comm, Message mine,
                                           const Reduction& reduction) {
  const Core core(comm);
  mine = co_await fold_in(comm, core, std::move(mine), reduction);
  if (!core.folds_in()) mine = co_await doubling(comm, core, std::move(mine), reduction);
  co_return co_await fold_out(comm, core, mine, mine);
}

Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine, const Reduction& reduction) {
  const Core core(comm);
  mine = co_await fold_in(comm, core, std::move(mine), reduction);
  if (!core.folds_in()) {
    mine = co_await halving_then_doubling(comm, core, std::move(mine), reduction);
  }
  co_return co_await fold_out(comm, core, mine, mine);
}

Task<Message> allreduce_ring(Communicator& comm, Message mine, const Reduction& reduction) {
  return allreduce_ring_segmented(comm, std::move(mine), reduction, Words(0));
}

Task<Message> allreduce_ring_segmented(Communicator& comm, Message mine, const Reduction& reduction,
                                       Words segment) {
  const int size = comm.size();
  const int segments = ring_segments(mine.words, size, segment);
  const int block = (comm.rank().value() + 1) % size;  // that this rank sums
  RingPieces pieces{.shift = 1, .segments = segments, .segment = 0};
  std::vector<Message> sums;
  for (; pieces.segment < segments; ++pieces.segment) {
    sums.push_back(co_await reduce_around_ring(comm, mine, reduction, pieces));
  }
  const int all = size * segments;
  if (reduction.has_length_alone(mine)) {
    co_await gather_lengths_around_ring(comm, mine, reduction, pieces.shift, segments);
    co_return mine;
  }
  mine = {};
  const Part own{{block * segments, (block + 1) * segments}, all};
  Concatenation::Piece piece{Rank(block), reduction.join(sums, own)};
  const Concatenation gathered = co_await gather_around_ring(comm, std::move(piece));
  const Part whole{{0, size}, size};
  co_return reduction.join(gathered, whole);
}

int ring_segments(Words whole, int ranks, Words segment) {
  if (segment == Words(0)) return 1;
  const std::int64_t turn = ranks * std::min(segment, whole + Words(1)).value();
  const std::int64_t rest = whole.value() % turn;
  const std::int64_t more = rest >= ranks && rest > turn / 2 ? 1 : 0;
  return pieces_of(whole.value() / turn + more, 1, ranks);
}

Task<Message> allreduce_nonoverlapping(Communicator& comm, Message mine,
                                       const Reduction& reduction) {
  const Rank root(0);
  Message total = co_await reduce(comm, root, std::move(mine), reduction);
  co_return co_await broadcast(comm, root, std::move(total));
}

}  // namespace thinwire::algorithms
