#include "algorithms/sparsifiers/dgc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kSampleDraws = 0x646763;  // separates these draws from all others of a seed

Selection select_by_sample(const SchemeSetup& setup, const SparseVector& accumulated, Rank rank,
                           int iteration) {
  const SampledThreshold threshold = sampled_threshold(accumulated, setup, rank, iteration);
  Selection selection{.selected = select_at_least(accumulated, threshold.value),
                      .work = threshold.work};
  selection.work.compared = setup.space.components;
  selection.work.prefix_summed = setup.space.components;
  const auto selected = static_cast<std::int64_t>(selection.selected.size());
  const std::int64_t k = setup.carried_k();
  const double most = setup.options.number("resample_above") * static_cast<double>(k);
  if (setup.options.flag("resample") && static_cast<double>(selected) > most) {
    selection.work.sorted += std::min(selected * setup.space.granule, setup.space.components);
    selection.selected = select_largest(selection.selected, k);
  }
  return selection;
}

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
          .make = without_state(select_by_sample)};
}

}  // namespace thinwire::algorithms
