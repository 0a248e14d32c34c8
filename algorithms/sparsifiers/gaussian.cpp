#include "algorithms/sparsifiers/gaussian.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <limits>
#include <numbers>

#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

float fitted(const SchemeSetup& setup, const SparseVector& accumulated) {
  if (setup.carried_k() == 0) return std::numeric_limits<float>::infinity();
  const Moments moments = moments_of(accumulated, setup.space);
  const double density = static_cast<double>(setup.k) / static_cast<double>(setup.space.components);
  return static_cast<float>(moments.mean +
                            moments.deviation * two_sided_quantile(std::min(density, 1.0)));
}

/// Corrects the threshold and returns the number of further thresholds tried.
std::int64_t correct(const SchemeSetup& setup, const SparseVector& accumulated, float& threshold) {
  const auto factor = static_cast<float>(setup.options.number("factor"));
  const std::int64_t rounds = setup.options.integer("rounds");
  const auto k = static_cast<double>(setup.carried_k());
  auto selected = static_cast<double>(count_at_least(accumulated, threshold));
  const bool few = selected < 0.75 * k;
  std::int64_t tries = 0;
  for (; tries < rounds && (few ? selected < 0.75 * k : selected > 1.25 * k); ++tries) {
    threshold = few ? threshold / factor : threshold * factor;
    selected = static_cast<double>(count_at_least(accumulated, threshold));
  }
  return tries;
}

Selection select_as_gaussian(const SchemeSetup& setup, const SparseVector& accumulated,
                             Rank /*rank*/, int /*iteration*/) {
  const std::int64_t n = setup.space.components;
  SelectionWork work{.scanned = 2 * n, .compared = n, .prefix_summed = n};
  float threshold = fitted(setup, accumulated);
  if (setup.options.flag("corrected")) work.retries = correct(setup, accumulated, threshold);
  work.compared += work.retries * n;
  return {.selected = select_at_least(accumulated, threshold), .work = work};
}

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
          .make = without_state(select_as_gaussian)};
}

}  // namespace thinwire::algorithms
