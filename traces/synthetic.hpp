// Synthetic gradients with a given location, overlap and size of the ranks' large values.
//
// The coordinates are cut into strata, `k` of them hot and a quarter as many warm, evenly mixed.
// Every rank has one coordinate in each stratum, with a magnitude above 1 in a hot one and below 1
// in a warm one. So the exact top-k of a rank are its k coordinates in the hot strata. A share
// `overlap` of the hot strata is common: all ranks have the same coordinate there. In the others
// ranks have different coordinates, as far as the width of the stratum allows: it is n / 1.25k
// coordinates if strata are equal; with more ranks than that they must coincide, and the numbers of
// ranks per coordinate differ by at most one.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/source.hpp"

namespace thinwire::traces {

struct SyntheticSettings {
  int ranks = 1;
  GradientSpace space;
  std::int64_t k = 0;  ///< components; a multiple of space.granule
  std::uint64_t seed = 1;
  double overlap = 0;  ///< share of the k that all ranks have in common, 0 .. 1
  /// 0: strata of equal width. s > 0: stratum j ends at (j/k)^(1+s) of the space, so selections are
  /// dense at its beginning, where the density follows a power law.
  double skew = 0;
  double drift = 0;  ///< share of the strata in which ranks move to a new coordinate, per iteration
  /// Magnitudes above the threshold are exp(tail · E), E exponential: a power law of exponent
  /// 1/tail.
  double tail = 0.25;
  double scale_drift = 0;  ///< standard deviation of ln(scale of all magnitudes) over iterations
};

class SyntheticSource final : public GradientSource {
 public:
  /// Throws InputError when the settings cannot be met.
  explicit SyntheticSource(const SyntheticSettings& settings);

  [[nodiscard]] GradientSpace space() const override { return settings_.space; }
  [[nodiscard]] SparseVector sparse(Rank rank, int iteration) const override;
  /// The sparse gradient, with small values at all other coordinates.
  [[nodiscard]] DenseBlock dense(Rank rank, int iteration) const override;

 private:
  struct Stratum {
    std::uint32_t first;
    std::uint32_t width;
    bool hot;
    bool common;
  };

  /// For each stratum, the offset of the common coordinate, or the cyclic shift of the ranks. It is
  /// the same for all ranks, so the offsets of the last iteration are cached.
  [[nodiscard]] const std::vector<std::uint32_t>& turns(int iteration) const;

  SyntheticSettings settings_;
  std::vector<Stratum> strata_;
  mutable std::vector<std::uint32_t> turns_;
  mutable int turns_of_ = 0;
};

}  // namespace thinwire::traces
