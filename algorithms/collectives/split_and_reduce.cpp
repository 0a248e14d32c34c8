#include "algorithms/collectives/split_and_reduce.hpp"

#include <utility>
#include <vector>

#include "sim/core/gradient/sparse_values.hpp"

namespace thinwire::algorithms {

namespace {

/// An exchange of counts that announces the lengths to come, one word each. The receiver ignores
/// them, since simulated messages know their lengths.
class Counts final : public Exchange {
 public:
  [[nodiscard]] Message outgoing(Rank /*to*/) override { return Numbers({0}).message(); }
  [[nodiscard]] Seconds incoming(Rank /*from*/, Message /*message*/) override { return Seconds(0); }
};

/// The part of one rank: it cuts its selection by region and sums the messages for its own region.
class SplitAndReduce final : public Exchange {
 public:
  SplitAndReduce(const Communicator& comm, const SparseVector& selected,
                 const Boundaries& boundaries, const SchemeSetup& setup, Words marker)
      : selected_(selected),
        setup_(setup),
        marker_(marker),
        positions_(selected.positions_of(boundaries.all())),
        parts_(setup.roles->parts(comm, selected, boundaries, *setup.shared)),
        region_(region(boundaries, parts_.of(comm.rank()))) {
    region_.add(slice(comm.rank()));
  }

  [[nodiscard]] Message outgoing(Rank to) override {
    Message message = slice(to).message(setup_.space);
    message.words += marker_;
    return message;
  }

  /// The coordinates, and the values.
  [[nodiscard]] Halves halves(Message message) const override {
    const SparseVector entries = SparseVector::from(message.payload);
    const Words indexes = setup_.space.index_words(setup_.components_in(entries));
    const Payload values = SparseValues::of(entries);
    return {{std::move(message.payload), indexes}, {values, message.words - indexes}};
  }
  [[nodiscard]] Message joined(Halves halves) const override {
    const SparseVector coordinates = SparseVector::from(halves.first.payload);
    return {SparseValues::joined(coordinates, halves.second.payload).payload(),
            halves.first.words + halves.second.words};
  }

  [[nodiscard]] const void* read_for(Rank to) const override {
    return &positions_[static_cast<std::size_t>(parts_.of(to).value())];
  }

  [[nodiscard]] Seconds incoming(Rank /*from*/, Message message) override {
    const SparseVector entries = SparseVector::from(message.payload);
    const std::int64_t values = setup_.components_in(entries);
    region_.add(entries);
    return setup_.gamma.entry * static_cast<double>(values);
  }

  [[nodiscard]] SparseVector finish() { return region_.finish(); }

 private:
  static SparseAccumulator region(const Boundaries& boundaries, Rank part) {
    const auto at = static_cast<std::size_t>(part.value());
    return {static_cast<std::uint32_t>(boundaries[at]),
            static_cast<std::uint32_t>(boundaries[at + 1])};
  }
  [[nodiscard]] SparseVector slice(Rank of) const {
    const auto at = static_cast<std::size_t>(parts_.of(of).value());
    return selected_.slice(positions_[at], positions_[at + 1]);
  }

  const SparseVector& selected_;
  const SchemeSetup& setup_;
  Words marker_;
  std::vector<std::uint32_t> positions_;
  PartsOfRanks parts_;
  SparseAccumulator region_;
};

}  // namespace

Boundaries equal_regions(const SchemeSetup& setup) { return equal_regions(setup, setup.ranks); }

Boundaries equal_regions(const SchemeSetup& setup, int regions) {
  const auto bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const Fingerprint what{bits(regions), bits(setup.space.components)};
  const Message shared = setup.shared->once("equal regions", what, {}, [&] {
    const GradientSpace& space = setup.space;
    std::vector<std::int64_t> cuts;
    for (int i = 0; i <= regions; ++i) {
      cuts.push_back(space.coordinate(part_begin(space.components, regions, i)));
    }
    return Boundaries(std::move(cuts)).message();
  });
  return Boundaries::from(shared.payload);
}

Task<SparseVector> split_and_reduce(Communicator& comm, SparseVector selected,
                                    Boundaries boundaries, const SchemeSetup& setup,
                                    SplitStyle style) {
  if (style.counts_first) {
    Counts counts;
    co_await direct_exchange(comm, counts, style.order);
    style.order.halves = true;
  }
  SplitAndReduce exchange(comm, selected, boundaries, setup, Words(style.marker));
  co_await direct_exchange(comm, exchange, style.order);
  co_return exchange.finish();
}

}  // namespace thinwire::algorithms
