#include "algorithms/collectives/split_and_reduce.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/core/gradient/ascending.hpp"
#include "sim/core/gradient/sparse_values.hpp"
#include "sim/core/gradient/statistical_payload.hpp"

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
                 const Boundaries& boundaries, const SchemeSetup& setup, const SplitStyle& style)
      : selected_(selected),
        setup_(setup),
        marker_(style.marker),
        merges_(style.merges && setup.gamma.merge > Seconds(0)),
        positions_(selected.positions_of(boundaries.all())),
        parts_(setup.roles->parts(comm, selected, boundaries, *setup.shared)),
        region_(region(boundaries, parts_.of(comm.rank()))),
        first_(boundaries[static_cast<std::size_t>(parts_.of(comm.rank()).value())]) {
    const SparseVector own = slice(comm.rank());
    if (merges_) {
      if (selected.is_statistical()) growth_ = growth_to(comm.size());
      static_cast<void>(in_sum_before(own));
    }
    region_.add(own);
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
    return positions_.address(static_cast<std::size_t>(parts_.of(to).value()));
  }

  [[nodiscard]] Seconds incoming(Rank /*from*/, Message message) override {
    const SparseVector entries = SparseVector::from(message.payload);
    const auto values = static_cast<double>(setup_.components_in(entries));
    Seconds work = setup_.gamma.entry * values;
    if (merges_) {
      const auto so_far = static_cast<double>(in_sum_before(entries) * setup_.space.granule);
      work = setup_.gamma.merge * (values + so_far);
    }
    region_.add(entries);
    return work;
  }

  [[nodiscard]] SparseVector finish() { return region_.finish(); }

 private:
  static SparseAccumulator region(const Boundaries& boundaries, Rank part) {
    const auto at = static_cast<std::size_t>(part.value());
    return {static_cast<std::uint32_t>(boundaries[at]),
            static_cast<std::uint32_t>(boundaries[at + 1])};
  }
  /// How the size of a sum grows with the number of statistical vectors like `selected_`: the
  /// logarithm of the size over the logarithm of the number, up to all ranks.
  [[nodiscard]] double growth_to(double ranks) const {
    const Statistics& one = statistics_of(selected_.payload());
    if (one.common || one.size == 0 || ranks == 1) return 0;
    const double level = static_cast<double>(one.level) * Statistics::kUnit;
    const auto each = static_cast<double>(one.size) / static_cast<double>(one.last - one.first);
    const double grows = one.population
                             ? one.population->united(ranks * level) / one.population->united(level)
                             : -std::expm1(ranks * std::log1p(-std::min(each, 1 - 1e-9))) / each;
    return std::log(std::max(grows, 1.0)) / std::log(ranks);
  }
  /// The coordinates of the sum before `entries` are added to it.
  std::int64_t in_sum_before(const SparseVector& entries) {
    if (entries.is_statistical()) {
      const auto parts = static_cast<double>(parts_in_sum_++);
      const double size = parts > 0 ? gross_ / parts * std::pow(parts, growth_) : 0;
      gross_ += static_cast<double>(entries.size());
      return std::llround(size);
    }
    const std::int64_t before = distinct_;
    for (const Entry& entry : entries.entries()) {
      const auto at = static_cast<std::size_t>(entry.coordinate - first_);
      if (at >= touched_.size()) touched_.resize(std::max(at + 1, 2 * touched_.size()));
      if (!touched_[at]) ++distinct_;
      touched_[at] = true;
    }
    return before;
  }
  [[nodiscard]] SparseVector slice(Rank of) const {
    const auto at = static_cast<std::size_t>(parts_.of(of).value());
    return selected_.slice(positions_[at], positions_[at + 1]);
  }

  const SparseVector& selected_;
  const SchemeSetup& setup_;
  Words marker_;
  bool merges_;
  Ascending positions_;
  PartsOfRanks parts_;
  SparseAccumulator region_;
  // If entries are merged, the size of the sum so far:
  std::int64_t first_;
  std::int64_t distinct_ = 0;
  std::vector<bool> touched_;
  int parts_in_sum_ = 0;
  double gross_ = 0;   ///< entries of statistical parts, which are not counted one by one
  double growth_ = 0;  ///< of their sum, see growth_to()
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
  SplitAndReduce exchange(comm, selected, boundaries, setup, style);
  co_await direct_exchange(comm, exchange, style.order);
  co_return exchange.finish();
}

}  // namespace thinwire::algorithms
