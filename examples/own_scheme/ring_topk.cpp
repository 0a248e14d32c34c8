#include "ring_topk.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thinwire/collectives.hpp>

using namespace thinwire;
using namespace thinwire::algorithms;

namespace {

constexpr Tag kRingTag(100);

/// ceil(k/P), the most coordinates that a piece may have.
std::int64_t room_of_piece(std::int64_t carried_k, int ranks) {
  return (carried_k + ranks - 1) / ranks;
}

/// One rank's side of it.
class RingTopk final : public SparseCollective {
 public:
  explicit RingTopk(const SchemeSetup& setup) : setup_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& mine = selection.selected;

    const int ranks = comm.size();
    const int rank = comm.rank().value();
    const Rank next((rank + 1) % ranks);
    const Rank previous((rank + ranks - 1) % ranks);
    SparseVector held = largest(piece_of(mine, previous.value()));
    {
      const auto phase = comm.phase("reduce_scatter");
      for (int step = 1; step < ranks; ++step) {
        const Message received =
            co_await comm.sendrecv(next, held.message(setup_.space), previous, kRingTag);
        co_await comm.compute(work(received));
        const int piece = (rank + 2 * ranks - step - 1) % ranks;
        held = largest(sum_within(SparseVector::from(received.payload), piece_of(mine, piece),
                                  begin_of(piece), begin_of(piece + 1)));
      }
    }
    const auto phase = comm.phase("allgather");
    const Concatenation all = co_await allgather_ring(comm, held.message(setup_.space));
    const SparseVector sum = concatenation_of_gathered(all, *setup_.shared);
    co_return Reduced{.sum = sum, .contributed = intersect(mine, sum)};
  }

 private:
  /// The coordinate at which a piece begins.
  [[nodiscard]] std::uint32_t begin_of(int piece) const {
    const auto at = static_cast<std::size_t>(piece);
    return static_cast<std::uint32_t>(equal_regions(setup_)[at]);
  }
  [[nodiscard]] SparseVector piece_of(const SparseVector& vector, int piece) const {
    return vector.slice(vector.position_of(begin_of(piece)),
                        vector.position_of(begin_of(piece + 1)));
  }
  [[nodiscard]] SparseVector largest(const SparseVector& piece) const {
    return select_largest(piece, room_of_piece(setup_.carried_k(), setup_.ranks));
  }
  /// What adding `received` and selecting anew takes. Half of the words are indexes.
  [[nodiscard]] Seconds work(const Message& received) const {
    const std::int64_t entries = received.words.value() / 2;
    return setup_.gamma.entry * static_cast<double>(entries) + setup_.prices.sort.of(2 * entries);
  }

  const SchemeSetup& setup_;
};

Cost ring_topk_cost(const CostInput& in) {
  const double steps = in.ranks - 1;
  const double share = static_cast<double>(in.k) / in.ranks;
  const auto room = static_cast<double>(in.granule * room_of_piece(in.k / in.granule, in.ranks));
  const double least = std::min(in.least(), static_cast<double>(in.k)) / in.ranks;
  return {
      .counted = {{2 * steps, 2 * least * steps, 0}, {2 * steps, 4 * share * steps, share * steps}},
      .added = {{}, {0, 4 * (room - share) * steps, (room - share) * steps}}};
}

}  // namespace

SchemeInfo ring_topk_scheme() {
  return {.name = "ring_topk",
          .summary = "a ring whose pieces are cut to k/P entries at each step",
          .source = "examples/own_scheme",
          .paper = {.latency = "2 (P-1)",
                    .words = "2k (P-1)/P",
                    .words_high = "4k (P-1)/P",
                    .reduced = "0",
                    .reduced_high = "k (P-1)/P"},
          .added = "k/P rounded up",
          .run_cost = ring_topk_cost,
          .collective = [](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
            return std::make_unique<RingTopk>(setup);
          },
          .selects_result = true,
          .drops_partial_sums = true};
}
