// Recommends a scheme for a training: simulates all candidates, ranks them, and finds where the
// ranking changes.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/convergence.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::studies {

/// What the density is a share of.
enum class DensityOf : std::uint8_t {
  rank,  ///< k as each scheme defines it: what a rank selects, or all ranks together
  sum,   ///< schemes whose sums have fewer components than those of top-k SGD at this density get a
         ///< density at which they have as many
};

struct RecommendSettings {
  /// A point with a workload; its scheme is ignored, and its options are for the schemes that have
  /// them. If it names a platform and no network, the network is links.
  Json point;
  std::vector<std::string> schemes = {};  ///< candidates; empty: those of default_candidates
  bool crossovers = true;                 ///< find where another scheme wins
  int most_ranks = 1024;                  ///< largest P to try; at least twice the point's own P
  DensityOf density_of = DensityOf::rank;
  /// Bytes of GPU memory per component for weights, gradient and optimizer. 16: mixed precision and
  /// Adam (ZeRO, SC 2020, section 3.1).
  double state_bytes = 16;
  int jobs = 1;              ///< simulations at once
  double most_seconds = 60;  ///< simulations that are expected to take longer are left out
  std::function<void(const std::string& what)> progress = {};  ///< called before each simulation
};

/// The component that takes the largest share of an iteration.
enum class Dominant : std::uint8_t { computation, sparsification, latency, bandwidth, waiting };
[[nodiscard]] std::string name_of(Dominant dominant);

struct Candidate {
  experiment::Row row;
  std::optional<Dominant> dominant = {};  ///< if it was simulated
  algorithms::ConvergenceReport convergence = {};
  std::optional<algorithms::MeasuredConvergence> measured = {};  ///< on a small model
  double sum_density = 1;     ///< components of the sum over n: what an iteration updates
  double density_factor = 1;  ///< of the given density, with DensityOf::sum
  double memory_bytes = 0;    ///< residuals, selection and received entries, beyond the training
  bool fits = true;  ///< with the training's state in the device's memory, if that is known

  /// Whether it may be recommended: it was simulated near k, fits, and no paper reports that it
  /// converges worse.
  [[nodiscard]] bool is_advisable() const;
};

/// The value of one parameter, among those tried, at which the advice is another scheme first.
struct Crossover {
  std::string along;  ///< ranks, density, alpha or beta
  bool up = true;     ///< towards larger values
  double at = 0;      ///< if `winner`; a factor of the given value for alpha and beta
  std::string winner = {};
  double gain = 1;         ///< the time of the present winner over that of the new one
  double looked_to = 0;    ///< the last value that could be simulated; 0: none
  std::string ended = {};  ///< why the search ended before a winner was found
};

/// Something that the ranking rests on.
struct Remark {
  std::string what;
  std::string value;
};

struct Recommendation {
  /// By simulated iteration time; those that do not fit after those that do, and those without a
  /// time last.
  std::vector<Candidate> ranked;
  std::vector<Remark> assumptions;
  std::vector<Remark> left_out;         ///< candidates that were not simulated, and why
  std::vector<std::string> contenders;  ///< the candidates for crossovers
  std::vector<Crossover> crossovers;

  /// The first candidate that is advisable, if there is one; if that does not give the dense sum, and
  /// is less than 5% faster than the first that does, then the latter.
  [[nodiscard]] const Candidate* advice() const;
};

/// The default candidates: all dense allreduces and one sparse scheme of each kind. `nodes`: nodes
/// have several GPUs, and links between them are shared, so those that use this are among them.
[[nodiscard]] std::vector<std::string> default_candidates(bool nodes);

/// Throws InputError if the point is invalid, or if the training alone exceeds the device's memory.
[[nodiscard]] Recommendation recommend(const RecommendSettings& given);

}  // namespace thinwire::studies
