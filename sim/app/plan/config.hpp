// Reads and writes configurations, given as JSON or as words of a command line, by means of the
// table of settings.
#pragma once

#include <string>

#include "sim/app/plan/settings.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::plan {

/// Check a point or a sweep. Throw InputError that starts with `origin` and names the JSON pointer,
/// the value found, and what would be valid, or the nearest valid key.
void check_point(const Json& point, const std::string& origin,
                 const Settings& settings = point_settings());
void check_sweep(const Json& sweep, const std::string& origin);

/// Sets the members of the point that `given` names; `given` must have been checked.
void assign(Point& point, const Json& given, const Settings& settings = point_settings());
/// The config of all settings that apply to the point; check_point accepts it.
[[nodiscard]] Json config_of(const Point& point, const Settings& settings = point_settings());

/// Parses a word of the command line, a number as parse_quantity does (quantity.hpp). A word that is
/// no such value is returned as a text, which check_point refuses.
[[nodiscard]] Json value_of(const std::string& word, const Setting& setting);

/// Turns a text with a number and its unit, "25Gbps", into the number; returns other values unchanged.
[[nodiscard]] Json without_unit(const Json& value, const Setting& setting);

/// Sets a value by its dotted path ("input.overlap"), creating the objects on the way. Throws
/// InputError if a part of the path is a value other than an object.
void set_by_path(Json& target, const std::string& path, const Json& value);
/// The value at a dotted path; nullptr if there is none.
[[nodiscard]] const Json* find_by_path(const Json& json, const std::string& path);
/// The JSON pointer of a path: "/a/b" of "a.b".
[[nodiscard]] std::string pointer_of(std::string path);

}  // namespace thinwire::plan
