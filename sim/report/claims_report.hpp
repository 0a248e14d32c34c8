// What the papers report beside what is simulated, as a table.
#pragma once

#include <string>
#include <vector>

#include "sim/experiment/claims/claims.hpp"
#include "sim/report/formats.hpp"

namespace thinwire {

[[nodiscard]] std::vector<Json> claim_records(const std::vector<Finding>& findings);
/// The table, and under it how many hold.
[[nodiscard]] std::string claims_text(const std::vector<Finding>& findings);

}  // namespace thinwire
