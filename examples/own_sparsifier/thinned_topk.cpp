#include "thinned_topk.hpp"

#include <algorithm>
#include <cstdint>
#include <thinwire/gradient.hpp>
#include <vector>

using namespace thinwire;
using namespace thinwire::algorithms;

namespace {

constexpr std::uint64_t kDraws = 0x7468696e;  // apart from all other draws of a seed

/// The entries that draw the smallest numbers.
SparseVector thinned_entries(const SparseVector& largest, std::int64_t k, std::uint64_t key) {
  const auto draw = [key](const Entry& entry) { return random_bits(key, entry.coordinate); };
  std::vector<Entry> entries(largest.entries().begin(), largest.entries().end());
  std::ranges::sort(entries, {}, draw);
  entries.resize(std::min(entries.size(), static_cast<std::size_t>(k)));
  std::ranges::sort(entries, {}, &Entry::coordinate);
  return SparseVector::checked(std::move(entries));
}

/// As many of counts, which have no entries to draw from (--statistical).
SparseVector thinned_counts(const SparseVector& largest, std::int64_t k) {
  const auto kept = std::min<std::int64_t>(k, static_cast<std::int64_t>(largest.size()));
  return SparseVector::from(
      statistical_thinned(largest.payload(), static_cast<std::uint32_t>(kept)));
}

Selection thinned_topk(const SchemeSetup& setup, const SparseVector& accumulated, Rank rank,
                       int iteration) {
  const std::int64_t k = setup.carried_k();
  const std::int64_t times = setup.options.integer("times");
  const SparseVector largest = select_largest(accumulated, times * k);
  const std::uint64_t key = random_bits(setup.seed, kDraws, rank.value(), iteration);
  return {.selected = largest.is_statistical() ? thinned_counts(largest, k)
                                               : thinned_entries(largest, k, key),
          .work = {.sorted = setup.space.components, .sampled = setup.components_in(largest)}};
}

}  // namespace

SparsifierInfo thinned_topk_sparsifier() {
  return {.name = "thinned_topk",
          .summary = "a random k of the entries of largest magnitude",
          .source = "examples/own_sparsifier",
          .independent_iterations = true,
          .draws = true,
          .options = {{"times", std::int64_t{2}, 1, "k entries are drawn from times * k"}},
          .make = without_state(thinned_topk)};
}
