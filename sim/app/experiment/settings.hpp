// The settings of a point, each declared once, in settings.cpp. From this table come the reader and
// the writer of configs and rows (config.hpp), the JSON Schema
// (schema.hpp), the flags of the program with their help and
// completion, the man page, columns of tables, and docs/settings.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/point.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::experiment {

enum class SettingKind : std::uint8_t { boolean, integer, number, text, integers, options };

/// What a setting is a part of, so that figures know which results make one curve.
enum class Aspect : std::uint8_t {
  scheme,  ///< who sums
  place,   ///< where: network, platform and machine
  size,    ///< how much each rank selects, on how many ranks; an axis of figures
  input,   ///< what is summed: everything else that moves a result
  record   ///< what is kept of a run; it moves no result
};

/// One setting. `path` is its place in a config: "machine.alpha_s" is the key alpha_s of the object
/// machine.
struct Setting {
  std::string path = {};
  SettingKind kind = SettingKind::number;
  Aspect aspect = Aspect::input;
  std::string flag = {};             ///< "-P,--ranks"; empty: --set alone sets it
  std::string unit = {};             ///< "s", "s/word", "bytes", "words"; empty: it has none
  std::optional<double> least = {};  ///< lowest value
  std::optional<double> most = {};   ///< highest value
  std::vector<std::string> choices =
      {};  ///< of a text: the only values, or of an integer: words too
  /// Who reads it: names of networks, or other circumstances, separated by commas; empty: every
  /// run.
  std::string readers = {};
  std::string standard = {};  ///< the default in words, where a fresh point does not have it
  std::string help = {};
  /// The value that a point has; nothing where the setting means nothing for the point. Of a
  /// setting that only a reader of configs knows (density) it is empty.
  std::function<std::optional<Json>(const Point&)> get = {};
  std::function<void(Point&, const Json&)> set = {};

  /// Last part of the path, "alpha_s".
  [[nodiscard]] std::string name() const;
  /// The object that it is in, "machine"; empty at the top.
  [[nodiscard]] std::string group() const;
  /// Whether a run on that network reads it.
  [[nodiscard]] bool read_on(const std::string& network) const;
  /// What a value has to be, in words: "integer, at least 1".
  [[nodiscard]] std::string wanted() const;
  /// The default in words; empty where there is none.
  [[nodiscard]] std::string default_text() const;
};

// Readers that are no networks.
inline constexpr const char* kModelRuns = "runs with a model";
inline constexpr const char* kProfileRuns = "runs with a profile";
inline constexpr const char* kSyntheticRuns = "runs on synthetic gradients";

using Settings = std::vector<Setting>;

/// All settings of a point, in the order of its JSON.
[[nodiscard]] const Settings& point_settings();
/// Whether a value of the setting is what a point has that says nothing.
[[nodiscard]] bool is_default(const Setting& setting, const Json& value);
/// Throws InputError with the nearest path where there is no such setting.
[[nodiscard]] const Setting& setting_at(const std::string& path,
                                        const Settings& settings = point_settings());

}  // namespace thinwire::experiment
