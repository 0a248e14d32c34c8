// Lists the calibrated parameters, each with a physical check.
#pragma once

#include <string>
#include <vector>

namespace thinwire::studies {

/// A parameter that a claim's number sets.
struct Calibration {
  std::string name;  ///< "vgg16 on p100, computing"
  double value = 0;
  std::string unit;  ///< "s", "s per word"
  std::string set_by;
  /// The rate that the value means, beside the peak of its device or wire; empty if there is no
  /// hardware to hold it against.
  std::string check;
};

/// The calibrations of claims.json, and of the files of shipped models and devices, where a value's
/// source says that it was calibrated. Profiles keep what was set for them in their own files
/// (docs/explanation/claims.md).
[[nodiscard]] std::vector<Calibration> calibrations();

}  // namespace thinwire::studies
