// A machine as a JSON file: the settings of its simulations, and which measured rows they were
// calibrated on.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/app/studies/validate/measured.hpp"
#include "sim/app/studies/validate/plain_formula.hpp"
#include "sim/core/base/shipped_files.hpp"

namespace thinwire::studies {

/// Measured rows that agree with all members that are set.
struct RowFilter {
  std::string run;
  std::optional<int> nodes = {};
  std::optional<std::string> test = {};
  std::optional<std::string> collective = {};
  std::optional<std::string> algorithm = {};
  /// Rows whose fastest repetition takes at least this share of the median, and rows whose fastest
  /// repetition is not known: on a shared machine, other jobs slow down the repetitions of the others.
  std::optional<double> min_over_median = {};

  [[nodiscard]] bool matches(const MeasuredRow& row) const;
};

/// The state of a machine in a run, as its shortest rows tell.
struct ProbedRun {
  double value = 0;              ///< of the probed setting
  double rms = 0;                ///< of log(simulated / measured) of the probes
  std::set<std::string> places;  ///< of the probes, "FILE:LINE"
};

struct MachineDescription {
  std::string path;     ///< of its file
  std::string name;     ///< the rows' `machine`
  bool gpu = false;     ///< for rows whose buffers are in GPU memory, or for the others
  std::string summary;  ///< what it is
  Json settings;        ///< of a point: network, platform, machine ...
  std::vector<RowFilter> calibrated_on;
  std::string probed = {};  ///< the path of the setting that each run has its own value of
  std::map<std::string, ProbedRun> of_runs = {};  ///< by run; not in the file
  /// The plain formula of the calibrated rows, for when only others are given.
  std::optional<PlainMachine> formula = {};
  std::vector<std::string> sources;

  /// The settings, as they are in a run.
  [[nodiscard]] Json settings_of(const std::string& run) const;
  /// Whether the row is one of those that the settings were calibrated on.
  [[nodiscard]] bool calibrated(const MeasuredRow& row) const;
};

/// Reads a description. Throws InputError with the JSON pointer for keys that are not known and
/// values that are not right. Scheme, ranks, sizes, placement, input and iterations are no settings of
/// a machine: they follow from the rows. Options are for the schemes that have them.
[[nodiscard]] MachineDescription read_machine(const std::string& path);

/// As the key `formula` of a description holds it.
[[nodiscard]] Json to_json(const PlainMachine& formula);

inline constexpr ShippedFiles kMachines{.what = "machine",
                                        .extension = ".json",
                                        .in_source = "platforms/machines",
                                        .in_share = "platforms/machines"};

}  // namespace thinwire::studies
