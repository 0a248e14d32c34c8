// The settings in which the rows of a table differ.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

/// The settings that apply to a point, as one flat object by path ("machine.alpha_s",
/// "options.tau"). It has the density of a sparse scheme, as the user gave it, and neither k nor
/// density for a dense one. What a run records, and lists of sizes, are not in it.
[[nodiscard]] Json flat_settings(const plan::Point& point);

/// The paths of flat_settings that have several values in `settings`, in order; options count where
/// rows of one scheme differ in them.
[[nodiscard]] std::vector<std::string> varying_settings(const std::vector<Json>& settings);

/// A column of records whose "settings" are flat_settings; "-" where the setting does not apply.
[[nodiscard]] Column setting_column(const std::string& path);

}  // namespace thinwire::report
