// Configurations as users write them: JSON, checked against the shipped schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/base/json.hpp"

namespace thinwire::experiment {

/// Reads a JSON file. Throws InputError naming the file, and line and column of a syntax error.
[[nodiscard]] Json read_json(const std::string& path);

/// Check a point or a sweep against the schema. Throw InputError that starts with `origin` and
/// names the JSON pointer, what is there, and what would be right, or the nearest right key.
void check_point(const Json& point, const std::string& origin);
void check_sweep(const Json& sweep, const std::string& origin);

/// Sets a value by its dotted path ("input.overlap"), making the objects on the way.
void set_by_path(Json& target, const std::string& path, const Json& value);

}  // namespace thinwire::experiment
