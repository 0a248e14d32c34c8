#include "algorithms/sparsifiers/mstopk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/measures.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kRunDraws = 0x6d7374;  // separates these draws from all others of a seed

/// All entries that reach `upper`, and a run of those between the two thresholds that starts at
/// the share `at` of the possible places.
SparseVector with_run(const SparseVector& accumulated, BisectedThresholds found, std::int64_t k,
                      double at) {
  const auto magnitude = [](const Entry& entry) { return std::abs(entry.value); };
  const auto between = [&](const Entry& entry) {
    return magnitude(entry) >= found.lower && magnitude(entry) < found.upper;
  };
  const auto entries = accumulated.entries();
  const std::int64_t above = count_at_least(accumulated, found.upper);
  const std::int64_t candidates = std::ranges::count_if(entries, between);
  const std::int64_t wanted = std::min(k - above, candidates);
  const auto places = static_cast<double>(candidates - wanted + 1);
  const std::int64_t first = std::min(static_cast<std::int64_t>(at * places), candidates - wanted);
  std::vector<Entry> selected;
  selected.reserve(static_cast<std::size_t>(above + wanted));
  std::int64_t passed = 0;
  for (const Entry& entry : entries) {
    const bool candidate = between(entry);
    const bool in_run = candidate && passed >= first && passed < first + wanted;
    if (candidate) ++passed;
    if (in_run || magnitude(entry) >= found.upper) selected.push_back(entry);
  }
  return SparseVector::trusted(std::move(selected));
}

Selection select_by_bisection(const SchemeSetup& setup, const SparseVector& accumulated, Rank rank,
                              int iteration) {
  const std::int64_t k = setup.carried_k();
  if (k == 0) return {.selected = {}};
  const std::int64_t n = setup.space.components;
  const std::int64_t samplings = setup.options.integer("samplings");
  const BisectedThresholds found = bisected_thresholds(accumulated, setup.space, k, samplings);
  const std::uint64_t key = random_bits(setup.seed, kRunDraws, rank.value(), iteration);
  return {.selected = accumulated.is_statistical()
                          ? select_largest(select_at_least(accumulated, found.lower), k)
                          : with_run(accumulated, found, k, to_unit(key)),
          .work = {.scanned = 2 * n,
                   .compared = samplings * n,
                   .prefix_summed = 2 * n,
                   .retries = samplings - 1}};
}

}  // namespace

BisectedThresholds bisected_thresholds(const SparseVector& accumulated, const GradientSpace& space,
                                       std::int64_t k, std::int64_t samplings) {
  BisectedThresholds found{.upper = std::numeric_limits<float>::infinity(), .lower = 0};
  if (accumulated.size() == 0) return found;
  const double mean =
      exceedances_of(accumulated, 0, space).excess / static_cast<double>(space.components);
  const double largest = kth_magnitude(accumulated, 1);
  double low = 0;
  double high = 1;
  for (std::int64_t round = 0; round < samplings; ++round) {
    const double middle = low + (high - low) / 2;
    const auto threshold = static_cast<float>(mean + middle * (largest - mean));
    // Thresholds that select fewer entries are higher, so the extremes are the last of their kind.
    if (count_at_least(accumulated, threshold) <= k) {
      found.upper = std::min(found.upper, threshold);
      high = middle;
    } else {
      found.lower = std::max(found.lower, threshold);
      low = middle;
    }
  }
  return found;
}

SparsifierInfo mstopk_sparsifier() {
  return {.name = "mstopk",
          .summary = "exactly k entries by a threshold that is searched by bisection",
          .source = "MSTopk (Shi et al., MLSys 2021), Algorithm 1; DRAGONN (ICML 2022), section 6",
          .independent_iterations = true,
          .draws = true,
          .options = {{"samplings", std::int64_t{30}, 1, "thresholds that are tried"}},
          .expected_work =
              [](std::int64_t n, std::int64_t /*k*/, const Options& options) {
                const std::int64_t samplings = options.integer("samplings");
                return SelectionWork{.scanned = 2 * n,
                                     .compared = samplings * n,
                                     .prefix_summed = 2 * n,
                                     .retries = samplings - 1};
              },
          .make = without_state(select_by_bisection)};
}

}  // namespace thinwire::algorithms
