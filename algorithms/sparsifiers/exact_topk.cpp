// exact_topk: exactly the k entries of largest magnitude; the lower coordinate wins a tie.
#include "algorithms/sparsifiers/sparsifiers.hpp"

namespace thinwire::algorithms {

namespace {

Selection select_exactly(const SchemeSetup& setup, const SparseVector& accumulated, Rank /*rank*/,
                         int /*iteration*/) {
  return {.selected = select_largest(accumulated, setup.carried_k()),
          .work = {.sorted = setup.space.components}};
}

}  // namespace

SparsifierInfo exact_topk_sparsifier() {
  return {.name = "exact_topk",
          .summary = "exactly the k entries of largest magnitude",
          .source = "Aji, Heafield (EMNLP 2017)",
          .independent_iterations = true,
          .options = {},
          .expected_work = [](std::int64_t n, std::int64_t /*k*/,
                              const Options& /*options*/) { return SelectionWork{.sorted = n}; },
          .make = without_state(select_exactly)};
}

}  // namespace thinwire::algorithms
