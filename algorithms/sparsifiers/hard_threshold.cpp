#include "algorithms/sparsifiers/hard_threshold.hpp"

#include <cmath>
#include <optional>

#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

class HardThreshold final : public Sparsifier {
 public:
  explicit HardThreshold(const SchemeSetup& setup) : setup_(setup) {
    const double given = setup.options.number("threshold");
    if (given > 0) threshold_ = static_cast<float>(given);
    if (!setup.options.flag("published")) return;
    if (given > 0) {
      throw InputError("/options/published: it sets the threshold; leave out options.threshold");
    }
    threshold_ = static_cast<float>(published_threshold(setup.carried_k()));
  }

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    if (!threshold_) threshold_ = kth_magnitude(accumulated, setup_.carried_k());
    return {
        .selected = select_at_least(accumulated, *threshold_),
        .work = {.compared = setup_.space.components, .prefix_summed = setup_.space.components}};
  }

 private:
  const SchemeSetup& setup_;
  std::optional<float> threshold_;
};

}  // namespace

double published_threshold(std::int64_t k) { return 1 / (2 * std::sqrt(static_cast<double>(k))); }

SparsifierInfo hard_threshold_sparsifier() {
  return {.name = "hard_threshold",
          .summary = "one threshold for the whole training, tuned before it",
          .source = "Hard-threshold (NeurIPS 2021); ExDyna (2024), section III",
          .options = {{"threshold", 0.0, 0,
                       "absolute; 0: the exact k-th largest magnitude of the first iteration"},
                      {"published", false, 0,
                       "the threshold 1/(2 sqrt(k)) of ExDyna's published code, in the units of "
                       "the gradients"}},
          .make = [](const SchemeSetup& setup) { return std::make_unique<HardThreshold>(setup); }};
}

}  // namespace thinwire::algorithms
