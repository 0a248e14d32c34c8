// The settings of a point, each declared once, in settings.cpp. This table generates the reader and
// the writer of configs and rows (config.hpp), the JSON Schema (schema.hpp), the flags of the
// program with their help and completion, man page, columns, and docs/reference/settings.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/plan/readers.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::plan {

enum class SettingKind : std::uint8_t { boolean, integer, number, text, integers, options };

/// The aspect of a run that a setting belongs to; figures use it to find the results of one curve.
enum class Aspect : std::uint8_t {
  scheme,  ///< the algorithm
  place,   ///< the network, the platform and the machine
  size,    ///< the number of ranks and of selected components; an axis of figures
  input,   ///< the gradients, and everything else that affects a result
  record   ///< what a run records; it does not affect a result
};

/// One setting. `path` is its position in a config: "machine.alpha_s" is the key alpha_s of the
/// object machine.
struct Setting {
  std::string path = {};
  SettingKind kind = SettingKind::number;
  Aspect aspect = Aspect::input;
  std::string flag = {};  ///< "-P,--ranks"; empty: only --set sets it
  /// "s", "s/word", "bytes"; empty: no unit. In the table it follows from the name, and so does
  /// that such a value is at least 0, and that machine and links are of the place.
  std::string unit = {};
  std::optional<double> least = {};  ///< lowest value
  std::optional<double> most = {};   ///< highest value
  std::vector<std::string> choices =
      {};                    ///< the only texts, or words that are valid besides integers
  NetworkSet networks = {};  ///< that read it
  std::vector<const Circumstance*> when = {};  ///< all of which must hold for a run to read it
  bool in_formulas = false;                    ///< of a machine: the papers' formulas have it, too
  std::string standard = {};  ///< the default in words, if a default point does not have it
  std::string help = {};
  /// The value in a point; nothing if the setting does not apply to the point. The function is
  /// empty for a setting that exists only in configs (density).
  std::function<std::optional<Json>(const Point&)> get = {};
  std::function<void(Point&, const Json&)> set = {};

  /// The last part of the path, "alpha_s".
  [[nodiscard]] std::string name() const;
  /// The object that contains it, "machine"; empty at the top level.
  [[nodiscard]] std::string group() const;
  /// The runs that read it, in words; empty: every run.
  [[nodiscard]] std::string readers() const;
  /// The description of a valid value: "integer, at least 1".
  [[nodiscard]] std::string wanted() const;
  /// The long flag, as messages name it.
  [[nodiscard]] std::string flag_name() const;
  /// The default in words; empty if there is none.
  [[nodiscard]] std::string default_text() const;
};

using Settings = std::vector<Setting>;

/// All settings of a point, in the order of its JSON.
[[nodiscard]] const Settings& point_settings();
/// The settings that this network reads but not every network does: "platform, placement, ...".
[[nodiscard]] std::string settings_read_on(const NetworkInfo& network);
/// Whether a value equals the default, which a point has if its config does not give the setting.
[[nodiscard]] bool is_default(const Setting& setting, const Json& value);
/// Throws InputError with the nearest path if there is no such setting.
[[nodiscard]] const Setting& setting_at(const std::string& path,
                                        const Settings& settings = point_settings());

}  // namespace thinwire::plan
