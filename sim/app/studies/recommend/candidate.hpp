// A scheme that may be recommended, and what its simulation tells of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/convergence.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::studies {

/// The component that takes the largest share of an iteration.
enum class Dominant : std::uint8_t {
  computation,
  sparsification,
  tensor_parallel,
  latency,
  bandwidth,
  waiting
};
[[nodiscard]] std::string name_of(Dominant dominant);

struct Candidate {
  results::Row row;
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

/// The default candidates: all dense allreduces and one sparse scheme of each kind. `nodes`: nodes
/// have several GPUs, and links between them are shared, so those that use this are among them.
[[nodiscard]] std::vector<std::string> default_candidates(bool nodes);

[[nodiscard]] Candidate candidate_from(results::Row row);
/// The time of an iteration in seconds. Infinity for what cannot be simulated, and for a scheme that
/// does not select k: its time belongs to another density.
[[nodiscard]] double time_of(const results::Row& row);
/// Whether it gives the dense sum.
[[nodiscard]] bool is_lossless(const Candidate& candidate);

}  // namespace thinwire::studies
