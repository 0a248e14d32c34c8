#include "algorithms/collectives/reduce.hpp"

#include <bit>
#include <utility>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

Task<Message> reduce(Communicator& comm, Rank root, Message mine, const Reduction& reduction) {
  const int size = comm.size();
  const int place = (comm.rank().value() - root.value() + size) % size;
  const auto rank_at = [&](int p) { return Rank((p + root.value()) % size); };

  const int parent_distance = static_cast<int>(std::bit_floor(static_cast<unsigned>(place)));
  int distance = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))) / 2;
  for (; distance > parent_distance; distance /= 2) {
    if (place + distance >= size) continue;
    const Message theirs = co_await comm.wait(comm.irecv(rank_at(place + distance), kReduceTag));
    Summed summed = reduction.sum(mine, theirs);
    co_await comm.compute(summed.work);
    mine = std::move(summed.message);
  }
  if (place == 0) co_return mine;
  co_await comm.wait(comm.isend(rank_at(place - parent_distance), kReduceTag, std::move(mine)));
  co_return Message{};
}

}  // namespace thinwire::algorithms
