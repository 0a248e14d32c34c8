// What a pass over a trace's selections leaves: counts that fits are made to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

/// Equal parts of all components in which imbalance is told.
inline constexpr int kImbalanceParts = 64;

class Selections {
 public:
  /// `block` is the size of the blocks in which pairs are counted.
  Selections(const TraceHeader& header, const std::vector<ProfileRegion>& regions,
             std::int64_t block);

  void add(const TraceWindow& window);

  /// Entries that all ranks selected in all windows.
  [[nodiscard]] double entries() const;
  /// Mean density of one rank.
  [[nodiscard]] double density() const;
  [[nodiscard]] double region_density(std::size_t region) const;
  /// Density of the union of what `ranks` ranks select, mean over all subsets of so many.
  [[nodiscard]] double union_density(int ranks) const;
  /// The share of the pairs of different ranks and different coordinates of a block that both are
  /// selected.
  [[nodiscard]] double block_pairs() const;
  /// Pairs of coordinates that share a block, for each region.
  [[nodiscard]] std::vector<double> coordinate_pairs() const;
  /// The most of the equal parts over their mean, of one rank in one window.
  [[nodiscard]] double imbalance() const { return imbalance_ / draws(); }
  /// ln(magnitude / threshold), positive ones.
  [[nodiscard]] std::vector<double>& magnitudes() { return magnitudes_; }

 private:
  [[nodiscard]] double draws() const { return windows_ * static_cast<double>(ranks_); }
  void add_imbalance(const SparseVector& selected);
  void add_magnitude(float value, float threshold);
  void add_keys();

  std::int64_t components_;
  std::size_t ranks_;
  std::int64_t block_;
  std::vector<std::int64_t> ends_;  ///< of the regions
  double windows_ = 0;
  std::vector<double> selected_;  ///< by region
  std::vector<double> by_ranks_;  ///< coordinates that so many ranks selected
  double pairs_ = 0;
  double imbalance_ = 0;
  std::vector<double> magnitudes_;
  std::size_t stride_ = 1;
  std::size_t seen_ = 0;
  std::vector<std::uint64_t> keys_;  ///< coordinate and rank, of one window
};

}  // namespace thinwire::traces
