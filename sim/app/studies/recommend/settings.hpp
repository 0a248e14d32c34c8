// What a recommendation is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/recommend/forecast.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::studies {

/// What the density is a share of.
enum class DensityOf : std::uint8_t {
  rank,  ///< k as each scheme defines it: what a rank selects, or all ranks together
  sum,   ///< schemes whose sums have fewer components than top-k SGD's sums at this density get a
         ///< density at which they have as many
};

struct RecommendSettings {
  /// A point with a workload; its scheme is ignored, and its options are for the schemes that have
  /// them. If it names a platform and no network, the network is links.
  Json point;
  std::vector<std::string> schemes = {};  ///< candidates; empty: default_candidates()
  /// Simulate all default candidates to their ends. Without it, a simulation ends as soon as it is
  /// known that its scheme is neither among the three fastest nor the fastest with the dense sum.
  bool all = false;
  bool crossovers = true;  ///< find where another scheme wins
  int most_ranks = 1024;   ///< largest P to try; at least twice the point's own P
  DensityOf density_of = DensityOf::rank;
  /// Bytes of GPU memory per component for weights, gradient and optimizer. 16: mixed precision and
  /// Adam (ZeRO, SC 2020, section 3.1).
  double state_bytes = 16;
  int jobs = 1;  ///< simulations at once
  /// Simulations of schemes with trees that are expected to take longer come last, and only if few
  /// chunks leave them a chance; unless `all`.
  double longest_first_s = 10;
  double most_seconds = 60;  ///< simulations that are expected to take longer are left out
  /// Called once, with what the formulas tell of the candidates that will be simulated.
  std::function<void(const Forecast&)> forecast = {};
  /// Called when a simulation ends, and about ten times per second. While crossovers are looked for,
  /// the total is the longest search's.
  std::function<void(const run::SweepProgress&)> progress = {};
};

}  // namespace thinwire::studies
