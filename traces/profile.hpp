// A profile: a compact model of where and how often the ranks of a training select. Each entry was
// fitted to a trace, calibrated to a paper's figure, or assumed, and records which.
//
// The model. A coordinate i lies in a region r of relative density d_r; its popularity z_i is a
// standard normal value that does not change. At density d a rank selects i with probability
//   copula:  p = Φ((Φ⁻¹(d·d_r) + sqrt(ρ)·z) / sqrt(1 - ρ))
//   Beta:    p = the Φ(z)-quantile of Beta(a, a(1 - d·d_r)/(d·d_r))
// and with probability 0 if Φ(z) < π0, the share that is never selected (the others then share
// d·d_r). The B coordinates of a block are correlated: z = sqrt(χ)·w_block + sqrt(1 - χ)·e. Given
// z, ranks and iterations are independent. Bursts, the preferences of a rank's batch, scale a
// region's λ (below) on that rank in that iteration.
//
// Magnitudes. With λ = -ln(1 - p), a rank's draw v = E/λ, E exponential, is the level from which on
// it selects i: its magnitude is threshold · x, where x is such that the expected number of
// coordinates with v <= level is R(x)·k. R(x), the number of magnitudes that reach x thresholds
// over k, is
//   x >= 1:  exp(-(ln(x)/scale)^shape), a stretched exponential in ln x
//   x < 1:   x^(-below), up to n/k
// So popular coordinates have large magnitudes. Signs are symmetric.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/core/base/default_options.hpp"
#include "sim/core/base/json.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

/// The distribution of popularity over coordinates.
enum class PopularityFamily : std::uint8_t { copula, beta };

/// Consecutive components with the same density.
struct ProfileRegion {
  std::size_t layer = 0;  ///< index of the layer
  std::int64_t size = 0;  ///< components; regions are consecutive and cover all
  double density = 1;     ///< relative to the overall density; the mean over components is 1
};

struct Popularity {
  double rho = 0;            ///< ρ of the copula, [0, 1)
  double beta_a = 1;         ///< a of the Beta family, > 0
  double never = 0;          ///< π0, [0, 1)
  std::int64_t block = 256;  ///< B, components
  double clustering = 0;     ///< χ, [0, 1]
  /// Standard deviation of ln density of a region on a rank in an iteration: its batch's
  /// preference.
  double bursts = 0;
};

struct Magnitudes {
  double shape = 1;
  double scale = 0.1;
  double below = 4;
  /// Moments of all components, in thresholds, which determine a Gaussian and an exponential fit.
  double rms = 0.3;
  double mean = 0.2;
};

/// The drift of ln threshold: independent noise, a mean-reverting walk, a start-up.
struct ThresholdDrift {
  double ranks = 0;    ///< standard deviation over ranks
  double noise = 0;    ///< standard deviation, independent in each iteration
  double walk = 0;     ///< stationary standard deviation of the walk
  double memory = 32;  ///< iterations after which the walk has forgotten 1 - 1/e of its state
  /// In iteration t of a training the threshold is 1 - (1 - start)·exp(-t/filling) of its later
  /// value, because residuals are still filling.
  double start = 1;
  double filling = 100;
};

/// The origin of an entry of a profile.
struct Provenance {
  std::string kind;  ///< fitted, calibrated or assumed
  std::string from;  ///< a trace, a paper's figure, a reason
};

struct Profile {
  std::string name;
  std::string source;
  std::int64_t components = 0;  ///< n
  double density = 0;           ///< at which the profile was made
  std::vector<Layer> layers;
  std::vector<ProfileRegion> regions;
  Popularity popularity;
  Magnitudes magnitudes;
  ThresholdDrift thresholds;
  DefaultOptions options;                        ///< of schemes, in this training
  std::map<std::string, Provenance> provenance;  ///< by entry, e.g. "popularity.rho"
};

/// The entries that have a provenance: "layers", "regions", and the numbers, as "popularity.rho".
[[nodiscard]] const std::vector<std::string>& profile_entries();
/// The numbers by group and name.
[[nodiscard]] Json numbers_of(const Profile& profile);

/// Throws InputError with the file, the JSON pointer, the value and what would be right.
[[nodiscard]] Profile read_profile(const std::string& path);
void write_profile(const Profile& profile, const std::string& path);

/// p of the model above; `density` is the region's density, in [0, 1].
[[nodiscard]] double selection_probability(const Popularity& popularity, PopularityFamily family,
                                           double density, double z);
/// The density of every region when ranks select at `density`: proportional to the profile's,
/// limited to 1 each, with the right mean.
[[nodiscard]] std::vector<double> region_densities(const Profile& profile, double density);
/// The expected density of the union of the selections of `ranks` ranks: fill-in.
[[nodiscard]] double union_density(const Profile& profile, PopularityFamily family, double density,
                                   double ranks);

}  // namespace thinwire::traces
