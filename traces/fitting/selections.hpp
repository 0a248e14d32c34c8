// The counts that a pass over a trace's selections collects, to which fits are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

/// The number of equal parts of all components for which the imbalance is computed.
inline constexpr int kImbalanceParts = 64;

class Selections {
 public:
  /// `block` is the size, in components, of the blocks in which pairs are counted.
  Selections(const TraceHeader& header, const std::vector<ProfileRegion>& regions,
             std::int64_t block);

  void add(const TraceWindow& window);

  /// The number of entries that all ranks selected in all windows.
  [[nodiscard]] double entries() const;
  /// The mean density of one rank.
  [[nodiscard]] double density() const;
  [[nodiscard]] double region_density(std::size_t region) const;
  /// The density of the union of the selections of `ranks` ranks, averaged over all such subsets.
  [[nodiscard]] double union_density(int ranks) const;
  /// The probability that two different ranks select two given different coordinates of a block.
  [[nodiscard]] double block_pairs() const;
  /// The number of pairs of coordinates that share a block, per region.
  [[nodiscard]] std::vector<double> coordinate_pairs() const;
  /// The mean of the largest of the equal parts over their mean, for one rank in one window.
  [[nodiscard]] double imbalance() const { return imbalance_ / draws(); }
  /// The positive values of ln(magnitude / threshold).
  [[nodiscard]] std::vector<double>& magnitudes() { return magnitudes_; }

 private:
  [[nodiscard]] double draws() const { return windows_ * static_cast<double>(ranks_); }
  void add_imbalance(const SparseVector& selected);
  void add_magnitude(float value, float threshold);
  void add_keys();

  std::int64_t components_;
  std::size_t ranks_;
  std::int64_t block_;
  std::vector<std::int64_t> ends_;  ///< ends of the regions
  double windows_ = 0;
  std::vector<double> selected_;  ///< by region
  std::vector<double> by_ranks_;  ///< coordinates by the number of ranks that selected them
  double pairs_ = 0;
  double imbalance_ = 0;
  std::vector<double> magnitudes_;
  std::size_t stride_ = 1;
  std::size_t seen_ = 0;
  std::vector<std::uint64_t> keys_;  ///< coordinate and rank, of one window
};

}  // namespace thinwire::traces
