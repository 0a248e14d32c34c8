#include "algorithms/sparsifiers/random_k.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/base/random.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::uint64_t kPlaceDraws = 0x726e646b;  // apart from all other draws of a seed

/// All numbers below `end` except `left_out`, which is sorted.
std::vector<std::uint32_t> complement(const std::vector<std::uint32_t>& left_out,
                                      std::int64_t end) {
  std::vector<std::uint32_t> rest;
  rest.reserve(static_cast<std::size_t>(end) - left_out.size());
  auto next = left_out.begin();
  for (std::int64_t i = 0; i < end; ++i) {
    if (next != left_out.end() && *next == i) {
      ++next;
    } else {
      rest.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return rest;
}

class RandomK final : public Sparsifier {
 public:
  explicit RandomK(const SchemeSetup& setup)
      : setup_(setup), shared_(setup.options.flag("shared")) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    if (accumulated.is_statistical()) return drawn_statistically(rank, iteration);
    const SparseVector drawn = shared_ ? drawn_by_all(iteration) : draw(key(rank, iteration));
    return {.selected = sum(drawn, intersect(accumulated, drawn)),
            .work = {.sampled = setup_.components_in(drawn)}};
  }

 private:
  [[nodiscard]] Selection drawn_statistically(Rank rank, int iteration) const {
    const auto count = static_cast<std::uint32_t>(setup_.carried_k());
    const auto end = static_cast<std::uint32_t>(setup_.space.coordinates());
    const std::uint64_t draws = key(shared_ ? Rank(0) : rank, iteration);
    return {.selected = SparseVector::from(statistical_draw(count, end, draws, shared_)),
            .work = {.sampled = setup_.k}};
  }

  [[nodiscard]] std::uint64_t key(Rank rank, int iteration) const {
    return random_bits(setup_.seed, kPlaceDraws, rank.value(), iteration);
  }

  /// Zeros at the drawn coordinates.
  [[nodiscard]] SparseVector draw(std::uint64_t key) const {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(setup_.carried_k()));
    for (const std::uint32_t coordinate :
         random_coordinates(setup_.carried_k(), setup_.space.coordinates(), key)) {
      entries.push_back({coordinate, 0.0F});
    }
    return SparseVector::trusted(std::move(entries));
  }

  [[nodiscard]] SparseVector drawn_by_all(int iteration) const {
    const std::uint64_t common = key(Rank(0), iteration);
    return SparseVector::from(setup_.shared
                                  ->once("random_k", Fingerprint{common, mix(common)}, {},
                                         [&] { return draw(common).message(setup_.space); })
                                  .payload);
  }

  const SchemeSetup& setup_;
  bool shared_;
};

}  // namespace

std::vector<std::uint32_t> random_coordinates(std::int64_t count, std::int64_t end,
                                              std::uint64_t key) {
  count = std::min(count, end);
  if (2 * count > end) return complement(random_coordinates(end - count, end, key), end);
  // Each round draws as many as are missing and drops duplicates, so there are never too many.
  std::vector<std::uint32_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  std::uint64_t draws = 0;
  while (std::cmp_less(drawn.size(), count)) {
    const auto before = static_cast<std::ptrdiff_t>(drawn.size());
    while (std::cmp_less(drawn.size(), count)) {
      const double at = to_unit(random_bits(key, draws++)) * static_cast<double>(end);
      drawn.push_back(static_cast<std::uint32_t>(at));
    }
    std::sort(drawn.begin() + before, drawn.end());
    std::inplace_merge(drawn.begin(), drawn.begin() + before, drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
  return drawn;
}

SparsifierInfo random_k_sparsifier() {
  return {.name = "random_k",
          .summary = "k coordinates drawn at random, whatever their values",
          .source = "Random-k (Stich et al., NeurIPS 2018); DRAGONN (ICML 2022), section 5.3",
          .independent_iterations = true,
          .draws = true,
          .options = {{OptionInfo{"shared", false, 0, "all ranks draw the same coordinates"}}},
          .expected_work = [](std::int64_t /*n*/, std::int64_t k,
                              const Options& /*options*/) { return SelectionWork{.sampled = k}; },
          .make = [](const SchemeSetup& setup) { return std::make_unique<RandomK>(setup); }};
}

}  // namespace thinwire::algorithms
