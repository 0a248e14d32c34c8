// sidco: a threshold from exponential distributions that are fitted in stages, SIDCo-E (Abdelmoniem
// et al., MLSys 2021). All entries that reach the last stage's threshold are selected.
//
//   stage 1:  η = mean(|g|) · ln(1/δ1), over all n components
//   stage m:  η += mean(|g| - η over those above η) · ln(1/δm), an exponential fit of the excesses
//   δ1 δ2 .. δM = k/n; δ1 is `first_ratio`, the others are equal. With one stage, or if k/n is
//   not below first_ratio, δ1 = k/n.
//
// M starts at `stages`. Every `period` iterations the mean count is compared with k: above (1 +
// tolerance) k there is one stage fewer, below (1 - tolerance) k one more, between 1 and log2(n/k),
// rounded up. The stages, the mean excess and the adaptation are from the paper. From the published
// code, which agrees: first_ratio 0.25, period 5, tolerance 0.2, one stage at first, equal later
// ratios, the limit of M. It measures the excess from the smallest exceedance instead of from η.
// More stages help if tails are lighter than exponential. If they are heavier, as in accumulators
// whose components are mostly 0, one stage selects too many, and there is no smaller number.
//
// Work: n scanned (the mean) plus the exceedances of each later stage; n compared for the
// selection, n for the first exceedances, and for later ones the exceedances of the stage before.
//
// Example: mean 1, k/n = 0.01, two stages: η1 = ln 4 = 1.386. If the mean excess is 1, δ2 = 0.04
// and η2 = 1.386 + 3.219 = 4.605 = ln 100, as with one stage: the exponential is memoryless.
#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

class Sidco final : public Sparsifier {
 public:
  explicit Sidco(const SchemeSetup& setup)
      : setup_(setup),
        first_ratio_(setup.options.number("first_ratio")),
        tolerance_(setup.options.number("tolerance")),
        period_(setup.options.integer("period")),
        stages_(setup.options.integer("stages")) {
    const double density = this->density();
    if (density > 0) {
      most_stages_ =
          std::max(std::int64_t{1}, static_cast<std::int64_t>(std::ceil(std::log2(1 / density))));
    }
    stages_ = std::min(stages_, most_stages_);
  }

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    const std::int64_t n = setup_.space.components;
    Selection selection{.selected = {}, .work = {.scanned = n, .compared = n, .prefix_summed = n}};
    selection.selected = select_at_least(accumulated, fitted(accumulated, selection.work));
    adapt(static_cast<double>(selection.selected.size()));
    return selection;
  }

 private:
  [[nodiscard]] double density() const {
    return static_cast<double>(setup_.k) / static_cast<double>(setup_.space.components);
  }

  /// Computes the threshold, and adds the work of the later stages.
  [[nodiscard]] float fitted(const SparseVector& accumulated, SelectionWork& work) const {
    if (setup_.carried_k() == 0) return std::numeric_limits<float>::infinity();
    const auto n = static_cast<double>(setup_.space.components);
    const double density = this->density();
    const double mean = exceedances_of(accumulated, 0, setup_.space).excess / n;
    if (stages_ == 1 || density >= first_ratio_) {
      return static_cast<float>(mean * -std::log(density));
    }
    double threshold = mean * -std::log(first_ratio_);
    const double later =  // ln(1/δm)
        std::log(first_ratio_ / density) / static_cast<double>(stages_ - 1);
    std::int64_t candidates = setup_.space.components;
    for (std::int64_t stage = 2; stage <= stages_; ++stage) {
      const Exceedances exceedances = exceedances_of(accumulated, threshold, setup_.space);
      work.compared += candidates;
      if (exceedances.components == 0) break;
      candidates = static_cast<std::int64_t>(exceedances.components);
      work.scanned += candidates;
      threshold += exceedances.excess / exceedances.components * later;
    }
    return static_cast<float>(threshold);
  }

  void adapt(double selected) {
    selected_ += selected;
    if (++iterations_ < period_) return;
    const double wanted =
        static_cast<double>(setup_.carried_k()) * static_cast<double>(iterations_);
    if (selected_ > (1 + tolerance_) * wanted) --stages_;
    if (selected_ < (1 - tolerance_) * wanted) ++stages_;
    stages_ = std::clamp(stages_, std::int64_t{1}, most_stages_);
    selected_ = 0;
    iterations_ = 0;
  }

  const SchemeSetup& setup_;
  double first_ratio_;
  double tolerance_;
  std::int64_t period_;
  std::int64_t stages_;
  std::int64_t most_stages_ = 1;
  double selected_ = 0;  ///< since the last adaptation
  std::int64_t iterations_ = 0;
};

}  // namespace

SparsifierInfo sidco_sparsifier() {
  return {.name = "sidco",
          .summary = "a threshold from exponential distributions fitted in stages",
          .source = "SIDCo-E (MLSys 2021), Algorithm 1",
          .options = {{"first_ratio", 0.25, 0, "share of the components that passes stage 1"},
                      {"stages", std::int64_t{1}, 1, "stages at first"},
                      {"period", std::int64_t{5}, 1, "iterations between changes of the stages"},
                      {"tolerance", 0.2, 0, "how far the count may be from k, as a share of it"}},
          .expected_work =
              [](std::int64_t n, std::int64_t /*k*/, const Options& /*options*/) {
                return SelectionWork{.scanned = n, .compared = n, .prefix_summed = n};
              },
          .make = [](const SchemeSetup& setup) { return std::make_unique<Sidco>(setup); }};
}

}  // namespace thinwire::algorithms
