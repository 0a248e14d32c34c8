// Reports profiles, their fits and the fill-in that they predict, as records and as tables.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "traces/fit.hpp"
#include "traces/profile.hpp"

namespace thinwire::report {

/// One record of kind "profile", then one of kind "entry" for each entry whose source it states.
[[nodiscard]] std::vector<Json> profile_records(const traces::Profile& profile);
[[nodiscard]] std::string profile_text(const std::vector<Json>& records);

/// The records of the profile, then records of kinds "union", "increment" and "error".
[[nodiscard]] std::vector<Json> fit_records(const traces::ProfileFit& fit);
[[nodiscard]] std::string fit_text(const std::vector<Json>& records);

/// Records of kind "fill-in", one for each number of ranks.
[[nodiscard]] std::vector<Json> fill_in_records(const traces::Profile& profile, double density,
                                                const std::vector<double>& ranks);
[[nodiscard]] std::string fill_in_text(const std::vector<Json>& records);

}  // namespace thinwire::report
