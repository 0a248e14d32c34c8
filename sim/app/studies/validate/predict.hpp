// Predicts the measured collectives of a machine on more nodes than were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/studies/validate/fit.hpp"

namespace thinwire::studies {

/// A collective on more nodes than were measured.
struct PredictedRow {
  MeasuredRow row;  ///< with the larger number of nodes; `seconds` is the time on `measured_nodes`
  int measured_nodes = 1;
  int ranks = 1;
  std::optional<double> seconds = {};  ///< none: `why` says why
  std::string why = {};
  std::string way = {};     ///< the phase that took longest, as "tree_ll128"
  int simulated_nodes = 0;  ///< the most that were simulated, if the time goes on from there
};

/// The measured rows of the most nodes, at `sizes` of their sizes at most, on `nodes` nodes. Points
/// that would take long run on a half, a quarter, an eighth ... of the nodes: of three such runs, the
/// growth per doubling goes on as it grew, with NCCL's protocol of the last one, and at least to the
/// time of a shorter vector. What NCCL chooses is then taken from its ring and its tree, the faster
/// of the two.
[[nodiscard]] std::vector<PredictedRow> predict(const std::vector<MeasuredRow>& rows,
                                                const MachineDescription& machine, int nodes,
                                                int tasks_per_node, std::size_t sizes,
                                                const RunAll& run);

/// The factor around a prediction on `nodes` nodes that holds 90% of measured times, from the rms of
/// the fit on `fitted_nodes` nodes.
[[nodiscard]] double interval_factor(double rms, int fitted_nodes, int nodes);

}  // namespace thinwire::studies
