// Simulates measured points of real machines, beside the plain formula fitted to the same rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/validate/accuracy.hpp"
#include "sim/app/studies/validate/machine_description.hpp"
#include "sim/app/studies/validate/measured.hpp"
#include "sim/app/studies/validate/plain_formula.hpp"

namespace thinwire::studies {

/// Runs points; the rows come in their order.
using RunAll = std::function<std::vector<results::Row>(const std::vector<plan::Point>&)>;

/// What a row is for a machine: its settings were fitted to it, one setting was probed by it in its
/// run, or neither.
enum class RowBasis : std::uint8_t { calibrated, probed, predicted };
[[nodiscard]] std::string name_of(RowBasis basis);

/// A measured row that can be simulated.
struct ValidatedRow {
  MeasuredRow measured;
  std::size_t machine = 0;  ///< index in Validation::machines
  std::string scheme;
  int ranks = 1;
  RowBasis basis = RowBasis::predicted;
  std::size_t point = 0;            ///< index in the sweep's points
  algorithms::Terms terms;          ///< of the plain formula
  std::optional<double> simulated;  ///< seconds; none before the simulation
  std::optional<double> plain;      ///< of the plain formula; none if it was not fitted, or is 0
};

/// A measured row that cannot be simulated.
struct SkippedRow {
  MeasuredRow measured;
  std::string why;
};

/// The plain formula of a machine.
struct FittedFormula {
  PlainMachine machine;
  std::size_t rows = 0;  ///< that it was fitted to; 0: it is the description's
};

struct Validation {
  std::vector<MachineDescription> machines;
  /// The formula of each machine; none before the simulation, and none where no calibrated row was
  /// simulated and the description has none.
  std::vector<std::optional<FittedFormula>> formulas;
  std::vector<ValidatedRow> rows;
  std::vector<SkippedRow> skipped;
  std::vector<std::string> notes;  ///< what a description says and no row shows
  run::Sweep sweep;                ///< each distinct point of the rows once
};

/// The rows with their points. `placements` is a folder of files MACHINE_RUN.csv with the columns
/// rank and node, or empty: the ranks of a run without a file fill one node of the platform after
/// another, as many on each as the row says. A row with fewer ranks on each node than its run has
/// places takes the first of each node. Rows that cannot have been measured in their run's places are
/// skipped. Throws InputError for two descriptions of the same rows and for settings that are not
/// right.
[[nodiscard]] Validation plan_validation(const std::vector<MeasuredRow>& rows,
                                         std::vector<MachineDescription> machines,
                                         const std::string& placements);

/// Loads each platform of the points, and places their ranks on it. Rows whose places the platform
/// does not have are skipped. Throws InputError for a platform that cannot be loaded.
void check_places(Validation& validation);

/// Takes the results of the points, in their order. Rows whose point has none are skipped. Then
/// fits the formulas to the calibrated rows that are left.
void take_results(Validation& validation, const std::vector<results::Row>& results);

/// Who predicted the times.
enum class Predictor : std::uint8_t { simulation, formula };
[[nodiscard]] std::string name_of(Predictor predictor);

/// How well one predictor does on the simulated rows of a machine and a collective.
struct AccuracySummary {
  std::size_t machine = 0;  ///< index in Validation::machines
  std::string collective;   ///< "all": of all collectives together
  RowBasis basis = RowBasis::predicted;
  Predictor predictor = Predictor::simulation;
  ErrorFigures errors;
  ChoiceFigures choices;
};

/// By machine: calibrated rows, then probes, then predicted ones; first all collectives, then each, if there are
/// several; the simulation, then the formula, if it was fitted. Nothing for no rows.
[[nodiscard]] std::vector<AccuracySummary> summaries_of(const Validation& validation);

}  // namespace thinwire::studies
