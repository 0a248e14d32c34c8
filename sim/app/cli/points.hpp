// The points that the flags of a command describe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::cli {

/// The value of a setting from a word, as "--set KEY=VALUE" takes it: JSON, or else a number as the
/// setting's flag takes it, or text.
[[nodiscard]] Json value_from(const std::string& key, const std::string& text);

/// The texts of settings KEY=VALUE of a flag, by key. Throws InputError for other words, for a key
/// that is given twice, and for one of `given`, which other flags have given. `example` shows the
/// form.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> settings_from(
    const std::string& flag, const std::vector<std::string>& settings, const Json& given,
    const std::string& example);

/// What happens to settings that are given and that none of the points reads. A config's are refused
/// where a flag's are noted.
enum class Unread : std::uint8_t { refused, noted, accepted };

/// What a command is asked to run.
struct Asked {
  std::vector<plan::Point> points;
  std::vector<std::string> unused;  ///< paths of settings that were noted
};

/// One point for each combination of the values of the lists in `given`, each once. `config` is a
/// file with a point, or empty; `given`, by dotted path, goes over it, and `settings`, KEY=VALUE,
/// over both. Of several networks, alphabeta leaves the platform to the others where α or β is given.
/// `complete`, if any, has the last word about the JSON of a point. Writes notes to
/// stderr, and warns there as say_if_eager does.
[[nodiscard]] Asked asked_of(const std::string& config, const Json& given,
                             const std::vector<std::string>& settings,
                             const std::function<Json(Json)>& complete = {},
                             Unread unread = Unread::refused);
/// The points that asked_of() returns, alone.
[[nodiscard]] std::vector<plan::Point> points_of(const std::string& config, const Json& given,
                                                 const std::vector<std::string>& settings,
                                                 const std::function<Json(Json)>& complete = {},
                                                 Unread unread = Unread::refused);
/// Warns, once, if the eager limit of one of the points is above 1 MiB.
void say_if_eager(const std::vector<plan::Point>& points);

/// Says which configuration of their platform files is passed over, once for each file.
void say_of_platforms(const std::vector<plan::Point>& points);

}  // namespace thinwire::cli
