// Probes the state of a machine in each run: one setting takes the value with which the run's shortest
// rows come out.
#pragma once

#include <vector>

#include "sim/app/studies/validate/validate.hpp"

namespace thinwire::studies {

/// The machines of a validation, with the values of their probed settings by run. Of each collective
/// and algorithm of a run, the row of the least size is a probe if there are longer ones. Runs that
/// the machine is calibrated on are not probed. The sum of squares of log(simulated / measured) of
/// the probes is least.
[[nodiscard]] std::vector<MachineDescription> probed(const Validation& validation,
                                                     const std::string& placements,
                                                     const RunAll& run);

}  // namespace thinwire::studies
