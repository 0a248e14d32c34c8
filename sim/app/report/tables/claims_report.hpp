// Prints a table of the papers' figures and the simulated ones.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/studies/claims/claims.hpp"

namespace thinwire::report {

[[nodiscard]] std::vector<Json> claim_records(const std::vector<studies::Finding>& findings);
/// The table, followed by the number of findings that hold.
[[nodiscard]] std::string claims_text(const std::vector<studies::Finding>& findings);

}  // namespace thinwire::report
