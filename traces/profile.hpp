// A profile: a compact model of where and how often the ranks of a training select. What is in it
// was fitted to a trace, calibrated to a paper's figure, or assumed; each entry says which.
//
// The model. A coordinate i lies in a region r of relative density d_r; z_i is its popularity, a
// standard normal value that does not change. At density d a rank selects i with probability
//   copula:  p = Φ((Φ⁻¹(d·d_r) + sqrt(ρ)·z) / sqrt(1 - ρ))
//   Beta:    p = the Φ(z)-quantile of Beta(a, a(1 - d·d_r)/(d·d_r))
// and with probability 0 where Φ(z) < π0, the share of those that are never selected (the others
// then share d·d_r). Coordinates of a block of B consecutive ones are alike: z = sqrt(χ)·w_block +
// sqrt(1 - χ)·e. Ranks and iterations are independent given z. What a rank's batch favours, bursts,
// scales a region's λ (below) on that rank in that iteration.
//
// Magnitudes. With λ = -ln(1 - p), a rank's draw v = E/λ, E exponential, is the level from which on
// it selects i: its magnitude is threshold · x where x is such that the expected number of
// coordinates with v <= level is R(x)·k. R(x), how many magnitudes reach x thresholds, is
//   x >= 1:  exp(-(ln(x)/scale)^shape), a stretched exponential in ln x
//   x < 1:   x^(-below), up to n/k
// So popular coordinates have large magnitudes. Signs are even.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/trace.hpp"

namespace thinwire::traces {

/// How popularity is spread among coordinates.
enum class PopularityFamily : std::uint8_t { copula, beta };

/// Consecutive components that are alike.
struct ProfileRegion {
  std::size_t layer = 0;  ///< position among the layers
  std::int64_t size = 0;  ///< components; regions follow one another and cover all
  double density = 1;     ///< of the overall density; the mean over components is 1
};

struct Popularity {
  double rho = 0;            ///< ρ of the copula, [0, 1)
  double beta_a = 1;         ///< a of the Beta family, > 0
  double never = 0;          ///< π0, [0, 1)
  std::int64_t block = 256;  ///< B, components
  double clustering = 0;     ///< χ, [0, 1]
  /// Standard deviation of ln density of a region on one rank in one iteration: what a rank's batch
  /// favours.
  double bursts = 0;
};

struct Magnitudes {
  double shape = 1;
  double scale = 0.1;
  double below = 4;
  /// Of all components, in thresholds: what a Gaussian fit and an exponential one see.
  double rms = 0.3;
  double mean = 0.2;
};

/// How ln threshold moves: noise of each iteration, a walk that is pulled back, a start-up.
struct ThresholdDrift {
  double ranks = 0;    ///< standard deviation over ranks
  double noise = 0;    ///< standard deviation, independent in each iteration
  double walk = 0;     ///< standard deviation of the walk once it has settled
  double memory = 32;  ///< iterations after which the walk has forgotten 1 - 1/e of where it was
  /// In iteration t of a training the threshold is 1 - (1 - start)·exp(-t/filling) of its later
  /// value, because residuals are filling.
  double start = 1;
  double filling = 100;
};

/// Where an entry of a profile comes from.
struct Provenance {
  std::string kind;  ///< fitted, calibrated or assumed
  std::string from;  ///< a trace, a paper's figure, a reason
};

struct Profile {
  std::string name;
  std::string source;
  std::int64_t components = 0;  ///< n
  double density = 0;           ///< at which it was made
  std::vector<Layer> layers;
  std::vector<ProfileRegion> regions;
  Popularity popularity;
  Magnitudes magnitudes;
  ThresholdDrift thresholds;
  std::map<std::string, Provenance> provenance;  ///< by entry, e.g. "popularity.rho"
};

/// Throws InputError that names the file, the JSON pointer, the value and what would be right.
[[nodiscard]] Profile read_profile(const std::string& path);
void write_profile(const Profile& profile, const std::string& path);

/// p of the model above; `density` is that of the region, in [0, 1].
[[nodiscard]] double selection_probability(const Popularity& popularity, PopularityFamily family,
                                           double density, double z);
/// Density of every region when ranks select at `density`: in proportion to what the profile says,
/// up to 1 each, with the mean right.
[[nodiscard]] std::vector<double> region_densities(const Profile& profile, double density);
/// Expected density of the union of what `ranks` ranks select: fill-in.
[[nodiscard]] double union_density(const Profile& profile, PopularityFamily family, double density,
                                   double ranks);

}  // namespace thinwire::traces
