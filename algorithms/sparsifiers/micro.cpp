#include "algorithms/sparsifiers/micro.hpp"

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
