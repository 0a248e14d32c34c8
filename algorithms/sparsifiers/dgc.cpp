#include "algorithms/sparsifiers/dgc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kSampleDraws = 0x646763;  // separates these draws from all others of a seed

class Dgc final : public Sparsifier {
 public:
  explicit Dgc(const SchemeSetup& setup)
      : setup_(setup),
        resample_(setup.options.flag("resample")),
        resample_above_(setup.options.number("resample_above")) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    const SampledThreshold threshold = sampled_threshold(accumulated, setup_, rank, iteration);
    Selection selection{.selected = select_at_least(accumulated, threshold.value),
                        .work = threshold.work};
    selection.work.compared = setup_.space.components;
    selection.work.prefix_summed = setup_.space.components;
    const auto selected = static_cast<std::int64_t>(selection.selected.size());
    const std::int64_t k = setup_.carried_k();
    if (resample_ && static_cast<double>(selected) > resample_above_ * static_cast<double>(k)) {
      selection.work.sorted += std::min(selected * setup_.space.granule, setup_.space.components);
      selection.selected = select_largest(selection.selected, k);
    }
    return selection;
  }

 private:
  const SchemeSetup& setup_;
  bool resample_;
  double resample_above_;
};

}  // namespace

SampledThreshold sampled_threshold(const SparseVector& accumulated, const SchemeSetup& setup,
                                   Rank rank, int iteration) {
  const std::int64_t k = setup.carried_k();
  if (k == 0) return {.value = std::numeric_limits<float>::infinity()};
  const double share = setup.options.number("sample");
  const auto wanted = std::ceil(share * static_cast<double>(k));
  const std::int64_t sample_rank =
      std::min(k, std::max(std::int64_t{2},
                           static_cast<std::int64_t>(std::min(wanted, static_cast<double>(k)))));
  const double probability = static_cast<double>(sample_rank) / static_cast<double>(k);

  // Zeros that are not held need no draw: they are never among the largest values.
  const std::uint64_t key = random_bits(setup.seed, kSampleDraws, rank.value(), iteration);
  const auto sampled = static_cast<std::int64_t>(
      std::llround(probability * static_cast<double>(setup.space.components)));
  return {.value = sampled_kth_magnitude(accumulated, probability, sample_rank, key),
          .work = {.sorted = sampled, .sampled = sampled}};
}

SelectionWork sampling_work(std::int64_t n, const Options& options) {
  const std::int64_t sampled = std::llround(options.number("sample") * static_cast<double>(n));
  return {.sorted = sampled, .sampled = sampled};
}

OptionInfo sample_option() {
  return {"sample", 0.01, 0, "share of the components that the threshold is estimated from", {}, 1};
}

SparsifierInfo dgc_sparsifier() {
  return {.name = "dgc",
          .summary = "a threshold that is the k-th largest magnitude by a random sample",
          .source = "DGC (ICLR 2018); DRAGONN (ICML 2022), Algorithm 3",
          .independent_iterations = true,
          .draws = true,
          .options = {sample_option(),
                      {"resample", false, 0,
                       "select exactly among the selected where they are far too many (published)"},
                      only_with("resample", {"resample_above", 1.3, 1,
                                             "resample: what is far too many, times k"})},
          .expected_work =
              [](std::int64_t n, std::int64_t /*k*/, const Options& options) {
                SelectionWork work = sampling_work(n, options);
                work.compared = n;
                work.prefix_summed = n;
                return work;
              },
          .make = [](const SchemeSetup& setup) { return std::make_unique<Dgc>(setup); }};
}

}  // namespace thinwire::algorithms
