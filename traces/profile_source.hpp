// Gradients drawn from a profile: the coordinates at which each rank's accumulator has large
// values, as entries or as counts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "traces/landscape.hpp"
#include "traces/source.hpp"

namespace thinwire::traces {

struct ProfileSettings {
  PopularityFamily family = PopularityFamily::copula;
  GradientSpace space;
  std::int64_t k = 0;  ///< components that each rank selects
  std::uint64_t seed = 1;
  bool start_up = false;  ///< iterations are the first ones of a training
  /// Exact values only: the approximate size of an accumulator, in multiples of k; 0: everything.
  double reach = 8;
};

/// The common part of both models.
class ProfileSource : public GradientSource {
 public:
  [[nodiscard]] GradientSpace space() const override { return settings_.space; }
  /// The first coordinate of each region, and the end.
  [[nodiscard]] const std::vector<std::uint32_t>& regions() const { return landscape_.regions(); }
  /// The magnitude that an expected number of k entries of the rank's accumulator reach.
  [[nodiscard]] float threshold(Rank rank, int iteration) const;

 protected:
  ProfileSource(const Profile& profile, const ProfileSettings& settings);
  [[nodiscard]] const ProfileSettings& settings() const { return settings_; }
  [[nodiscard]] const Landscape& landscape() const { return landscape_; }
  [[nodiscard]] const Ref<const Population>& population() const { return population_; }
  /// The key of a rank's draws in an iteration.
  [[nodiscard]] std::uint64_t key(Rank rank, int iteration) const;

 private:
  ProfileSettings settings_;
  Landscape landscape_;
  Ref<const Population> population_;
  ThresholdWalk walk_;
};

/// Draws entries. Time and memory are proportional to their number, plus 4 bytes per coordinate and
/// one initial pass over all of them.
class ExactProfileSource final : public ProfileSource {
 public:
  ExactProfileSource(const Profile& profile, const ProfileSettings& settings);
  [[nodiscard]] SparseVector sparse(Rank rank, int iteration) const override;
  [[nodiscard]] DenseBlock dense(Rank rank, int iteration) const override;

 private:
  struct Alike {
    double rate = 0;
    std::vector<std::uint32_t> coordinates;
  };
  [[nodiscard]] SparseVector drawn(Rank rank, int iteration, double level) const;

  std::vector<Alike> classes_;
  double level_;  // coordinates are drawn up to this level
};

/// Draws counts, in constant time per rank.
class StatisticalProfileSource final : public ProfileSource {
 public:
  /// Throws InputError when the granule of the space is not 1.
  StatisticalProfileSource(const Profile& profile, const ProfileSettings& settings);
  /// The accumulator with all magnitudes multiplied by `factor`.
  [[nodiscard]] SparseVector accumulator(Rank rank, int iteration, double factor) const;
  [[nodiscard]] const Population& counts() const { return *population(); }
  [[nodiscard]] SparseVector sparse(Rank rank, int iteration) const override;
  [[nodiscard]] DenseBlock dense(Rank rank, int iteration) const override;
};

}  // namespace thinwire::traces
