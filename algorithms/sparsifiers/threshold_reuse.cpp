#include "algorithms/sparsifiers/threshold_reuse.hpp"

namespace thinwire::algorithms {

namespace {

class ThresholdReuse final : public Sparsifier {
 public:
  explicit ThresholdReuse(const SchemeSetup& setup)
      : setup_(setup), threshold_(setup.options.integer("tau_prime")) {}

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int iteration) override {
    const std::int64_t n = setup_.space.components;
    const std::int64_t k = setup_.carried_k();
    Selection selection{.selected = {}, .work = {.compared = n, .prefix_summed = n}};
    // The period counts from its own last time: some collectives do not select in every iteration.
    if (exact_at_ == 0 || iteration - exact_at_ >= setup_.options.integer("tau_prime")) {
      exact_at_ = iteration;
      threshold_.set(kth_magnitude(accumulated, k));
      selection.work.sorted = n;
    }
    selection.selected = threshold_.select(accumulated);
    const Options& options = setup_.options;
    if (options.flag("nudge")) {
      threshold_.nudge(static_cast<std::int64_t>(selection.selected.size()), k,
                       options.number("nudge_low"), options.number("nudge_high"),
                       options.number(kNudgeFactor), options.number(kNudgeFactor));
    }
    return selection;
  }

 private:
  const SchemeSetup& setup_;
  ReusedThreshold threshold_;
  int exact_at_ = 0;  // iteration of the last exact threshold; 0: none yet
};

}  // namespace

void ReusedThreshold::nudge(std::int64_t selected, std::int64_t wanted, double low, double high,
                            double raise, double lower) {
  const auto count = static_cast<double>(selected);
  const auto target = static_cast<double>(wanted);
  if (count > high * target) {
    threshold_ *= static_cast<float>(raise);
  } else if (count < low * target) {
    threshold_ /= static_cast<float>(lower);
  }
}

std::vector<OptionInfo> threshold_reuse_options() {
  return {
      {"tau_prime", std::int64_t{32}, 1,
       "iterations between exact thresholds (the paper: 32, BERT 128)"},
      {"nudge", false, 0, "move reused thresholds when the count leaves its band (published)"},
      only_with("nudge",
                {"nudge_low", 2.0 / 3, 0, "lower end of the band, times k (LSTM 0.75, BERT 0.8)"}),
      only_with("nudge", {"nudge_high", 1.25, 1, "upper end of the band, times k"}),
      only_with("nudge", {kNudgeFactor, 1.012, 1, "by how much the threshold moves (BERT 1.025)"})};
}

SparsifierInfo threshold_reuse_sparsifier() {
  return {.name = "threshold_reuse",
          .summary = "a threshold that is exact every tau_prime iterations and reused in between",
          .source = "Ok-Topk (PPoPP 2022), section 3.1.3, Algorithm 1, lines 2-4",
          .options = threshold_reuse_options(),
          .periods = {"tau_prime"},
          .expected_work =
              [](std::int64_t n, std::int64_t /*k*/, const Options& options) {
                return SelectionWork{
                    .compared = n, .sorted = n / options.integer("tau_prime"), .prefix_summed = n};
              },
          .make = [](const SchemeSetup& setup) { return std::make_unique<ThresholdReuse>(setup); }};
}

}  // namespace thinwire::algorithms
