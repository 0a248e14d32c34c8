// exact_topk: exactly the k entries of largest magnitude; the lower coordinate wins a tie.
#include "algorithms/sparsifiers/sparsifiers.hpp"

namespace thinwire::algorithms {

namespace {

class ExactTopk final : public Sparsifier {
 public:
  explicit ExactTopk(const SchemeSetup& setup) : setup_(setup) {}

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    return {.selected = select_largest(accumulated, setup_.carried_k()),
            .work = {.sorted = setup_.space.components}};
  }

  [[nodiscard]] std::optional<std::int64_t> fixed_count() const override {
    return setup_.carried_k();
  }

 private:
  const SchemeSetup& setup_;
};

}  // namespace

SparsifierInfo exact_topk_sparsifier() {
  return {.name = "exact_topk",
          .summary = "exactly the k entries of largest magnitude",
          .source = "Aji, Heafield (EMNLP 2017)",
          .independent_iterations = true,
          .fixed_count = true,
          .options = {},
          .expected_work = [](std::int64_t n, std::int64_t /*k*/,
                              const Options& /*options*/) { return SelectionWork{.sorted = n}; },
          .make = [](const SchemeSetup& setup) { return std::make_unique<ExactTopk>(setup); }};
}

}  // namespace thinwire::algorithms
