#include "algorithms/collectives/allreduce.hpp"

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

/// The ranks, a power of two, that remain once the others have folded in.
class Core {
 public:
  explicit Core(const Communicator& comm)
      : rank_(comm.rank().value()),
        size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())))),
        folded_(comm.size() - size_) {}

  [[nodiscard]] int size() const { return size_; }
  /// Whether this rank belongs to a pair of which one folds in.
  [[nodiscard]] bool paired() const { return rank_ < 2 * folded_; }
  [[nodiscard]] bool folds_in() const { return paired() && rank_ % 2 == 0; }
  [[nodiscard]] Rank partner() const { return Rank(rank_ ^ 1); }
  /// The index of this rank within the core, and the rank with a given index.
  [[nodiscard]] int place() const { return paired() ? rank_ / 2 : rank_ - folded_; }
  [[nodiscard]] Rank at(int place) const {
    return Rank(place < folded_ ? 2 * place + 1 : place + folded_);
  }

 private:
  int rank_;
  int size_;
  int folded_;
};

using CoreSchedule = Task<Message> (*)(Communicator&, Core, Message, const Reduction&);

Task<Message> with_fold_in(Communicator& comm, Message mine, const Reduction& reduction,
                           CoreSchedule schedule) {
  const Core core(comm);
  if (core.folds_in()) {
    co_await comm.wait(comm.isend(core.partner(), kAllreduceTag, std::move(mine)));
    co_return co_await comm.wait(comm.irecv(core.partner(), kAllreduceTag));
  }
  if (core.paired()) {
    const Message theirs = co_await comm.wait(comm.irecv(core.partner(), kAllreduceTag));
    Summed summed = reduction.sum(mine, theirs);
    co_await comm.compute(summed.work);
    mine = std::move(summed.message);
  }
  mine = co_await schedule(comm, core, std::move(mine), reduction);
  if (core.paired()) co_await comm.wait(comm.isend(core.partner(), kAllreduceTag, mine));
  co_return mine;
}

Task<Message> doubling(Communicator& comm, Core core, Message held, const Reduction& reduction) {
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
  std::vector<PieceRange> ranges{{0, pieces}};
  for (int distance = 1; distance < pieces; distance *= 2) {
    const PieceRange range = ranges.back();
    const int middle = range.first + (range.last - range.first) / 2;
    PieceRange kept{range.first, middle};
    PieceRange sent{middle, range.last};
    if ((core.place() & distance) != 0) std::swap(kept, sent);
    const Rank peer = core.at(core.place() ^ distance);
    const Message theirs =
        co_await comm.sendrecv(peer, reduction.cut(held, sent, pieces), peer, kAllreduceTag);
    const Part part{kept, pieces};
    Summed summed = reduction.sum(reduction.cut(held, kept, pieces), theirs, part);
    co_await comm.compute(summed.work);
    held = std::move(summed.message);
    ranges.push_back(kept);
  }
  for (int distance = pieces / 2; distance > 0; distance /= 2) {
    const Rank peer = core.at(core.place() ^ distance);
    Message theirs = co_await comm.sendrecv(peer, held, peer, kAllreduceTag);
    std::array parts{std::move(held), std::move(theirs)};
    if ((core.place() & distance) != 0) std::swap(parts[0], parts[1]);
    ranges.pop_back();
    const Part joined{ranges.back(), pieces};
    held = reduction.join(parts, joined);
  }
  co_return held;
}

}  // namespace

Task<Message> allreduce_recursive_doubling(Communicator& comm, Message mine,
                                           const Reduction& reduction) {
  return with_fold_in(comm, std::move(mine), reduction, doubling);
}

Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine, const Reduction& reduction) {
  return with_fold_in(comm, std::move(mine), reduction, halving_then_doubling);
}

Task<Message> allreduce_ring(Communicator& comm, Message mine, const Reduction& reduction) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % size);
  const Rank previous((rank + size - 1) % size);
  const auto piece_at = [&](int offset) { return (rank + offset + 2 * size) % size; };
  const auto own = [&](int piece) { return reduction.cut(mine, {piece, piece + 1}, size); };

  Message moving = own(rank);
  for (int step = 1; step < size; ++step) {
    const Message received =
        co_await comm.sendrecv(next, std::move(moving), previous, kAllreduceTag);
    const int piece = piece_at(-step);
    const Part part{{piece, piece + 1}, size};
    Summed summed = reduction.sum(own(piece), received, part);
    co_await comm.compute(summed.work);
    moving = std::move(summed.message);
  }
  std::vector<Message> pieces(static_cast<std::size_t>(size));
  pieces[static_cast<std::size_t>(piece_at(1))] = moving;
  for (int step = 1; step < size; ++step) {
    moving = co_await comm.sendrecv(next, std::move(moving), previous, kAllreduceTag);
    pieces[static_cast<std::size_t>(piece_at(1 - step))] = moving;
  }
  const Part whole{{0, size}, size};
  co_return reduction.join(pieces, whole);
}

}  // namespace thinwire::algorithms
