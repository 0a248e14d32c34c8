// Prints a table of the papers' figures and the simulated ones.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/studies/claims/calibrations.hpp"
#include "sim/app/studies/claims/claims.hpp"

namespace thinwire::report {

/// One record per finding.
[[nodiscard]] std::vector<Json> claim_records(const std::vector<studies::Finding>& findings);
/// One record of kind `count` per line that ends the text: how many findings there are of that
/// sort, and how many hold.
[[nodiscard]] std::vector<Json> claim_counts(const std::vector<studies::Finding>& findings);
/// The calibrated parameters: `name`, `value`, `unit`, `set_by`, `check`.
[[nodiscard]] std::string calibrations_text(const std::vector<studies::Calibration>& calibrations,
                                            const View& view);
/// The table, followed by the number of findings that hold.
[[nodiscard]] std::string claims_text(const std::vector<studies::Finding>& findings,
                                      const View& view = {.wide = true});

}  // namespace thinwire::report
