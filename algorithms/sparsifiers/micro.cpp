// micro: each rank selects in a partition of its own, with a threshold that is controlled by the
// count (MiCRO: Yoon and Oh, HiPC 2023, arXiv:2310.00967). Of the paper only the abstract was at hand:
// the algorithm is taken from its published code (kljp/micro, gradient_reducers.py, MicroReducer).
//
// It is exdyna (exdyna.hpp) without blocks that move: the n components are cut into P partitions as
// equal as possible, once, and in iteration t rank r has partition (t + r) mod P. The threshold is
// multiplied by 1 + γ, 1 + γ/4 or 1 - γ after each iteration, with the same bounds. The published
// code starts at 1/(2 sqrt(k)); the start and `settled` are ours, as with exdyna. Where a rank
// selects nothing, the published code still sends one index, so that no list is empty; ours sends
// none.
//
// k is the number that all ranks select together.
// Work: the components of the own partition are compared. Memory: none.
//
// Example: P = 3, n = 10: partitions of 4, 3 and 3 components. In iteration 1 rank 0 has the
// partition that begins at component 4.
#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/sparsifiers/exdyna.hpp"
#include "algorithms/sparsifiers/exdyna_settling.hpp"

namespace thinwire::algorithms {

namespace {

class Micro final : public Sparsifier {
 public:
  explicit Micro(const SchemeSetup& setup)
      : setup_(setup), threshold_(setup.options.number("threshold") * setup.settled.scale) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    if (threshold_ == 0) {
      threshold_ = exdyna_first_threshold(setup_, accumulated) * setup_.settled.scale;
    }
    const auto own =
        static_cast<std::int64_t>(exdyna_allocation(setup_.ranks, rank.value(), iteration));
    const GradientSpace& space = setup_.space;
    const std::int64_t begin = part_begin(space.components, setup_.ranks, own);
    const std::int64_t end = part_begin(space.components, setup_.ranks, own + 1);
    const std::size_t first = accumulated.position_of(space.coordinate(begin));
    const std::size_t last = accumulated.position_of(space.coordinate(end), first);
    return {
        .selected = select_at_least(accumulated.slice(first, last), static_cast<float>(threshold_)),
        .work = {.compared = end - begin, .prefix_summed = end - begin},
        .own_part = true};
  }

  void observe(const Numbers& counts, int /*iteration*/) override {
    threshold_ *= exdyna_scaling(counts.total(), setup_.carried_k(),
                                 setup_.options.number("tolerance"), setup_.options.number("step"));
  }

 private:
  const SchemeSetup& setup_;
  double threshold_;  ///< 0: not set yet
};

SettledState settle_micro(const SchemeSetup& setup, const AccumulatorOf& of) {
  std::vector<std::int64_t> first;
  for (int rank = 0; rank < setup.ranks; ++rank) {
    first.push_back(part_begin(setup.space.components, setup.ranks, rank));
  }
  std::vector<std::int64_t> partitions(first.size() + 1);
  std::iota(partitions.begin(), partitions.end(), 0);
  return settle_partitions(
      setup, of,
      {.blocks = std::move(first), .partitions = std::move(partitions), .how = {.blk_move = 0}});
}

}  // namespace

SparsifierInfo micro_sparsifier() {
  return {.name = "micro",
          .summary = "as exdyna, in partitions that never change",
          .source = "MiCRO (HiPC 2023)",
          .draws = true,
          .needs = Needs::values_of_all,
          .options = {{"tolerance", 1.1, 1, "up to which the threshold rises slowly"},
                      step_option(),
                      {"threshold", 0.0, 0,
                       "the first one; 0: the exact one of each rank's first accumulator"},
                      settled_option(
                          "a run, unless of a start-up, begins once the threshold has settled")},
          .settle = settle_micro,
          .make = [](const SchemeSetup& setup) { return std::make_unique<Micro>(setup); }};
}

}  // namespace thinwire::algorithms
