// Prints the predictions of `thinwire fit`.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/studies/validate/predict.hpp"

namespace thinwire::report {

/// "45.2 GB/s", "1.09 us".
[[nodiscard]] std::string fitted_text(const studies::FittedVariable& variable);

/// A record for each prediction, whose interval is the time divided by `factor` and times it.
[[nodiscard]] std::vector<Json> prediction_records(
    const std::vector<studies::PredictedRow>& predicted, double factor);
/// The same as a table to read.
[[nodiscard]] std::string prediction_text(const std::vector<Json>& records, const View& view);

}  // namespace thinwire::report
