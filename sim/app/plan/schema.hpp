// Exports the table of settings: the JSON Schema that editors read, and the page of the
// documentation.
#pragma once

#include <string>

#include "sim/app/plan/settings.hpp"

namespace thinwire::plan {

/// The JSON Schema (draft 07) of sweeps; its definition `point` is the schema of points.
[[nodiscard]] Json sweep_schema(const Settings& settings = point_settings());
/// The text of docs/reference/settings.md.
[[nodiscard]] std::string settings_page(const Settings& settings = point_settings());

}  // namespace thinwire::plan
