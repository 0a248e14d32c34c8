// Configurations as users write them: JSON or the words of a command line, read and written by the
// table of settings.
#pragma once

#include <string>

#include "sim/app/experiment/settings.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::experiment {

/// Check a point or a sweep. Throw InputError that starts with `origin` and names the JSON pointer,
/// what is there, and what would be right, or the nearest right key.
void check_point(const Json& point, const std::string& origin,
                 const Settings& settings = point_settings());
void check_sweep(const Json& sweep, const std::string& origin);

/// Gives the point what `given` says, which has to be checked.
void assign(Point& point, const Json& given, const Settings& settings = point_settings());
/// All that means something for the point; check_point accepts it.
[[nodiscard]] Json config_of(const Point& point, const Settings& settings = point_settings());

/// The value that a word of the command line stands for. A number may be 1e6, 25.5M (decimal), 1%,
/// and 2us or 3ms where the setting's unit is a second. A word that is no such value is given as a
/// text, which check_point refuses.
[[nodiscard]] Json value_of(const std::string& word, const Setting& setting);

/// Sets a value by its dotted path ("input.overlap"), making the objects on the way. Throws
/// InputError where a part of the path is a value that is no object.
void set_by_path(Json& target, const std::string& path, const Json& value);
/// The value at a dotted path; nullptr where there is none.
[[nodiscard]] const Json* find_by_path(const Json& json, const std::string& path);

}  // namespace thinwire::experiment
