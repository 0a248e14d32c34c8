// Fits settings of a machine to measured times.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/app/studies/validate/validate.hpp"

namespace thinwire::studies {

/// A setting that was fitted, or could not be.
struct FittedSetting {
  std::string path;      ///< of the setting: machine.overhead_s
  double value = 0;      ///< in the setting's unit
  double deviation = 0;  ///< relative standard deviation
  /// Whether the rows determine it: its relative deviation is at most kMostDeviation. One that they
  /// do not determine keeps its value from before, or is 0 if the fit led there.
  bool identified = true;
};

/// The greatest relative deviation of a setting that counts as identified.
inline constexpr double kMostDeviation = 0.5;

struct MachineFit {
  MachineDescription machine;  ///< with the fitted settings
  std::vector<FittedSetting> settings;
  std::size_t rows = 0;    ///< that were fitted to
  std::size_t points = 0;  ///< distinct ones that each trial simulates
  double rms = 0;          ///< of log(simulated / measured)
};

/// Simulates points; the rows come in their order.
using RunPoints = std::function<std::vector<results::Row>(const run::Sweep&)>;

/// Fits the settings `paths` of the machine to those of the rows that it is calibrated on: the sum
/// of squares of log(simulated / measured) is least. The description's values are where the fit
/// starts. A setting that the rows do not determine goes back there, and the others are fitted
/// again. `placements` is as in plan_validation(). Throws InputError for a path that is no setting
/// with a unit, a start that is not positive, and where there are no rows; SimulationError where the
/// fit does not converge.
[[nodiscard]] MachineFit calibrate(const std::vector<MeasuredRow>& rows,
                                   const MachineDescription& machine, const std::string& placements,
                                   const std::vector<std::string>& paths, const RunPoints& run);

/// The description as its file holds it, with the fitted settings and their deviations.
[[nodiscard]] Json to_json(const MachineFit& calibration);

}  // namespace thinwire::studies
