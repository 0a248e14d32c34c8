// Prints measured times of real machines beside simulated ones: docs/explanation/accuracy.md.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/studies/validate/validate.hpp"

namespace thinwire::report {

/// One record of kind `row` per simulated row, of kind `skipped` per machine, collective, algorithm
/// and reason, of kind `probe` per run that was probed, of kind `formula` per machine, and of kind `summary` per summary.
[[nodiscard]] std::vector<Json> validation_records(const studies::Validation& validation);
/// The same as tables to read, each under a heading.
[[nodiscard]] std::string validation_text(const std::vector<Json>& records,
                                          const View& view = {.wide = true});

}  // namespace thinwire::report
