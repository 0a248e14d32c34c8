// Fits a machine to measured times: settings of its description, or figures of its platform.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/app/studies/validate/least_squares.hpp"
#include "sim/app/studies/validate/validate.hpp"

namespace thinwire::studies {

/// A figure of a machine that a fit may determine.
struct FitVariable {
  std::string name;  ///< the path of a setting, machine.overhead_s, or a figure of the platform
  double start = 0;  ///< where the fit starts; above 0
  std::string unit;
  /// Whether it may turn out to be 0: times may, rates may not.
  bool may_vanish = true;
};

/// A machine, and what is fitted of it.
struct FitProblem {
  MachineDescription machine;
  std::vector<FitVariable> variables;
  /// How the least squares are sought, and whether the best that was found counts if none were.
  DescentSettings descent = {};
  bool takes_best = false;
  /// The machine with these values of variables; the others are where the fit starts.
  std::function<MachineDescription(const std::map<std::string, double>& values)> with;
};

/// The problem of settings of a description, `paths`. Throws InputError for a path that is no
/// setting with a number, for one that comes twice, and for a start that is not positive.
[[nodiscard]] FitProblem settings_to_fit(const MachineDescription& machine,
                                         const std::vector<std::string>& paths);

/// A variable that was fitted, or could not be.
struct FittedVariable {
  std::string name;
  std::string unit;
  double value = 0;
  double deviation = 0;  ///< relative standard deviation
  /// Whether the rows determine it: its relative deviation is at most kMostDeviation. One that they
  /// do not determine keeps its value from before, or is 0 if the fit led there.
  bool identified = true;
};

/// The greatest relative deviation of a variable that counts as identified.
inline constexpr double kMostDeviation = 0.5;

struct MachineFit {
  MachineDescription machine;  ///< with the fitted values
  std::vector<FittedVariable> variables;
  std::size_t rows = 0;    ///< that were fitted to
  std::size_t points = 0;  ///< distinct ones that each trial simulates
  double rms = 0;          ///< of log(simulated / measured)
  bool converged = true;   ///< else these are the best values that were found
  PlainMachine formula;    ///< the plain formula, fitted to the same rows

  [[nodiscard]] std::map<std::string, double> values() const;
};

/// Simulates points; the rows come in their order.
using RunPoints = std::function<std::vector<results::Row>(const run::Sweep&)>;

/// Fits the variables to the rows that the machine is calibrated on: the sum of squares of
/// log(simulated / measured) is least. A variable that the rows do not determine goes back to its
/// start, and the others are fitted again. `placements` is as in plan_validation(). Throws
/// InputError where there are no rows; SimulationError where the fit does not converge.
[[nodiscard]] MachineFit fit(const std::vector<MeasuredRow>& rows, const FitProblem& problem,
                             const std::string& placements, const RunPoints& run);

/// A description with the fitted values and their deviations; `description` is what its file held.
[[nodiscard]] Json to_json(const MachineFit& fit, Json description);
/// At most `most` of the rows, evenly spread, with the first and the last one.
[[nodiscard]] std::vector<MeasuredRow> spread_over(const std::vector<MeasuredRow>& rows,
                                                   std::size_t most);

}  // namespace thinwire::studies
