// Measures one point on real processes, and checks what they computed.
#pragma once

#include "sim/app/results/row.hpp"
#include "sim/machine/networks/mpi/process_network.hpp"

namespace thinwire::run {

/// How to measure; the settings of the point say what.
struct MeasureSettings {
  int warm_up = 5;      ///< iterations before the first one that counts
  int iterations = 20;  ///< that count
  /// Whether rank 0 repeats all iterations on the network counting and compares the results of all
  /// ranks to the last bit, their messages and words, and the last sum with one in double
  /// precision.
  bool check = true;
  /// Whether to time the library's own allreduce of a dense gradient too, after each iteration.
  bool beside_library = false;
};

/// The point that is measured: on the network mpi, with so many processes and iterations. Throws
/// InputError for a point that says otherwise.
[[nodiscard]] Json measured_point(Json given, int processes, const MeasureSettings& settings);

/// Measures the point, which all processes do together with the same point; all get the same row.
/// Iterations count from 1 with the warm-up, so that schemes with periods have reached the state in
/// which they are measured. Throws InputError on all processes alike where the point cannot run,
/// and SimulationError on one of them when it fails: the others then wait for it, and have to be
/// ended. A failed check is a row whose status is failed.
[[nodiscard]] results::Row measure_point(const plan::Point& point,
                                         networks::ProcessNetwork& network,
                                         const MeasureSettings& settings);

}  // namespace thinwire::run
