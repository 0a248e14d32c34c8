#include "algorithms/sparsifiers/gaussian.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <limits>
#include <numbers>

#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

class Gaussian final : public Sparsifier {
 public:
  explicit Gaussian(const SchemeSetup& setup)
      : setup_(setup),
        corrected_(setup.options.flag("corrected")),
        rounds_(setup.options.integer("rounds")),
        factor_(static_cast<float>(setup.options.number("factor"))) {}

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    const std::int64_t n = setup_.space.components;
    Selection selection{.selected = {},
                        .work = {.scanned = 2 * n, .compared = n, .prefix_summed = n}};
    float threshold = fitted(accumulated);
    if (corrected_) {
      const std::int64_t tries = correct(accumulated, threshold);
      selection.work.compared += tries * n;
      selection.work.retries = tries;
    }
    selection.selected = select_at_least(accumulated, threshold);
    return selection;
  }

 private:
  [[nodiscard]] float fitted(const SparseVector& accumulated) const {
    if (setup_.carried_k() == 0) return std::numeric_limits<float>::infinity();
    const Moments moments = moments_of(accumulated, setup_.space);
    const double density =
        static_cast<double>(setup_.k) / static_cast<double>(setup_.space.components);
    return static_cast<float>(moments.mean +
                              moments.deviation * two_sided_quantile(std::min(density, 1.0)));
  }

  /// Corrects the threshold and returns the number of further thresholds tried.
  [[nodiscard]] std::int64_t correct(const SparseVector& accumulated, float& threshold) const {
    const auto k = static_cast<double>(setup_.carried_k());
    auto selected = static_cast<double>(count_at_least(accumulated, threshold));
    const bool few = selected < 0.75 * k;
    std::int64_t tries = 0;
    for (; tries < rounds_ && (few ? selected < 0.75 * k : selected > 1.25 * k); ++tries) {
      threshold = few ? threshold / factor_ : threshold * factor_;
      selected = static_cast<double>(count_at_least(accumulated, threshold));
    }
    return tries;
  }

  const SchemeSetup& setup_;
  bool corrected_;
  std::int64_t rounds_;
  float factor_;
};

}  // namespace

double two_sided_quantile(double density) {
  if (density <= 0) return std::numeric_limits<double>::infinity();
  return std::numbers::sqrt2 * boost::math::erfc_inv(density);
}

SparsifierInfo gaussian_sparsifier() {
  return {.name = "gaussian",
          .summary = "a threshold from mean and deviation, as if components were Gaussian",
          .source = "Gaussiank (arXiv 1911.08772); Ok-Topk (PPoPP 2022), section 3.1.3",
          .independent_iterations = true,
          .options = {{"corrected", false, 0,
                       "move the threshold until 3k/4 to 5k/4 are selected (published)"},
                      only_with("corrected", {"rounds", std::int64_t{20}, 0,
                                              "corrected: at most so many times (to 50)"}),
                      only_with("corrected", {"factor", 1.02, 1,
                                              "corrected: by how much each time (1.012 to 1.02)"})},
          .expected_work =
              [](std::int64_t n, std::int64_t /*k*/, const Options& /*options*/) {
                return SelectionWork{.scanned = 2 * n, .compared = n, .prefix_summed = n};
              },
          .make = [](const SchemeSetup& setup) { return std::make_unique<Gaussian>(setup); }};
}

}  // namespace thinwire::algorithms
