// Sparsifiers without a network, and the distributions on which they are tested.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/sparsifiers/sparsifier.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::test {

inline bool operator==(const algorithms::SelectionWork& a, const algorithms::SelectionWork& b) {
  return a.scanned == b.scanned && a.compared == b.compared && a.sorted == b.sorted &&
         a.hashed == b.hashed && a.sampled == b.sampled && a.prefix_summed == b.prefix_summed &&
         a.retries == b.retries;
}

/// The P ranks of a sparsifier, which live through all iterations.
class SparsifierRanks {
 public:
  struct Settings {
    GradientSpace space = {.components = 1000, .granule = 1};
    std::int64_t k = 0;
    int ranks = 1;
    std::map<std::string, algorithms::OptionValue> options = {};
    std::uint64_t seed = 1;
  };

  SparsifierRanks(const algorithms::SparsifierInfo& info, const Settings& settings)
      : shared_(4096),
        setup_{.ranks = settings.ranks,
               .space = settings.space,
               .k = settings.k,
               .options = algorithms::Options(info.options, settings.options),
               .shared = &shared_,
               .seed = settings.seed} {
    for (int rank = 0; rank < settings.ranks; ++rank) sparsifiers_.push_back(info.make(setup_));
  }
  SparsifierRanks(const SparsifierRanks&) = delete;
  SparsifierRanks& operator=(const SparsifierRanks&) = delete;
  ~SparsifierRanks() = default;

  [[nodiscard]] algorithms::Selection select(const SparseVector& accumulated, int iteration = 1,
                                             int rank = 0) {
    return sparsifiers_[static_cast<std::size_t>(rank)]->select(accumulated, Rank(rank), iteration);
  }
  void observe(const Numbers& counts, int iteration) {
    for (const auto& sparsifier : sparsifiers_) sparsifier->observe(counts, iteration);
  }
  /// Clears the shared work, as a run does between iterations.
  void clear_shared() { shared_.clear(); }
  [[nodiscard]] std::size_t computed() const { return shared_.computed(); }

 private:
  SharedWork shared_;
  algorithms::SchemeSetup setup_;
  std::vector<std::unique_ptr<algorithms::Sparsifier>> sparsifiers_;
};

/// A uniform draw in (0, 1), identified by a seed and a position.
[[nodiscard]] inline double unit(std::uint64_t seed, std::int64_t at) {
  return to_unit(random_bits(seed, 0x74657374, at));
}

[[nodiscard]] inline double gaussian_value(std::uint64_t seed, std::int64_t at) {
  return std::sqrt(-2 * std::log(unit(seed, 2 * at))) *
         std::cos(2 * std::numbers::pi * unit(seed, 2 * at + 1));
}

/// A value of magnitude E^(1/shape), E exponential, and random sign: shape 1 is Laplace, below 1
/// heavier.
[[nodiscard]] inline double stretched_value(std::uint64_t seed, std::int64_t at, double shape) {
  const double magnitude = std::pow(-std::log(unit(seed, 2 * at)), 1 / shape);
  return unit(seed, 2 * at + 1) < 0.5 ? -magnitude : magnitude;
}

/// A vector with value(coordinate) at the first `count` coordinates.
template <class Value>
[[nodiscard]] SparseVector filled(std::int64_t count, Value value) {
  Entries entries;
  for (std::int64_t i = 0; i < count; ++i) {
    entries.push_back({static_cast<std::uint32_t>(i), static_cast<float>(value(i))});
  }
  return SparseVector::checked(std::move(entries));
}

[[nodiscard]] inline std::int64_t size_of(const algorithms::Selection& selection) {
  return static_cast<std::int64_t>(selection.selected.size());
}

/// Pearson's statistic for the counts of equally likely outcomes. Its mean is one less than the
/// number of outcomes and its variance twice that.
[[nodiscard]] inline double chi_square(std::span<const std::int64_t> counts) {
  double total = 0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double apart = static_cast<double>(count) - expected;
    sum += apart * apart / expected;
  }
  return sum;
}

}  // namespace thinwire::test
