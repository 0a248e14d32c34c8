#include "sim/app/plan/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string_view>

#include "algorithms/registry.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantity.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::plan {

namespace {

/// The keys of each object of a config, by the object's name; the config itself has the empty name.
using KeysByGroup = std::map<std::string, std::vector<std::string>>;

KeysByGroup keys_by_group(const Settings& settings) {
  KeysByGroup keys;
  for (const Setting& setting : settings) {
    std::vector<std::string>& outermost = keys[""];
    const std::string group = setting.group();
    if (!group.empty()) keys[group].push_back(setting.name());
    const std::string& first = group.empty() ? setting.name() : group;
    if (std::ranges::find(outermost, first) == outermost.end()) outermost.push_back(first);
  }
  return keys;
}

[[noreturn]] void wrong(const JsonNode& node, const Setting& setting) {
  const std::string_view units =
      setting.unit.empty() ? ""
                           : quantity_example(setting.unit, setting.kind == SettingKind::integer);
  node.wrong(setting.wanted() + (units.empty() ? "" : fmt::format(", as in {}", units)) +
             (setting.help.empty() ? "" : ": " + setting.help));
}

void check_number(const JsonNode& node, const Setting& setting, bool whole) {
  const Json value = without_unit(node.json(), setting);
  if (whole ? !value.is_number_integer() : !value.is_number()) wrong(node, setting);
  const auto number = value.get<double>();
  if (!std::isfinite(number)) {
    refuse(node.path(), node.pointer(), fmt::format("{} is not a finite number", number));
  }
  if (setting.least && number < *setting.least) wrong(node, setting);
  if (setting.most && number > *setting.most) wrong(node, setting);
  if (whole && setting.path != "seed" && value == node.json()) static_cast<void>(node.whole());
}

/// Refuses schemes and networks that there are not.
void check_name(const JsonNode& node, const Setting& setting) {
  try {
    if (setting.path == "scheme") static_cast<void>(algorithms::find_scheme(node.text()));
    if (setting.path == "network") static_cast<void>(find_network(node.text()));
  } catch (const InputError& error) {
    refuse(node.path(), node.pointer(), error.what());
  }
}

void check_value(const JsonNode& node, const Setting& setting) {
  const Json& value = node.json();
  const auto is_choice = [&] {
    return value.is_string() &&
           std::ranges::find(setting.choices, value.get<std::string>()) != setting.choices.end();
  };
  switch (setting.kind) {
    case SettingKind::boolean:
      if (!value.is_boolean()) wrong(node, setting);
      return;
    case SettingKind::integer:
      if (!is_choice()) check_number(node, setting, true);
      return;
    case SettingKind::number:
      check_number(node, setting, false);
      return;
    case SettingKind::text:
      if (!value.is_string() || (!setting.choices.empty() && !is_choice())) wrong(node, setting);
      check_name(node, setting);
      if (!is_utf8(node.text())) {
        refuse(node.path(), node.pointer(), fmt::format("'{}' is no UTF-8", node.text()));
      }
      return;
    case SettingKind::integers:
      if (!value.is_array()) wrong(node, setting);
      for (const JsonNode& element : node.elements()) check_number(element, setting, true);
      return;
    case SettingKind::options:
      if (!value.is_object()) wrong(node, setting);
      for (const auto& item : value.items()) {
        const JsonNode option = node.at(item.key());
        if (item.value().is_number_float()) check_number(option, setting, false);
        if (item.value().is_number_integer()) static_cast<void>(option.whole());
        if (!item.value().is_boolean() && !item.value().is_number()) {
          option.wrong("boolean or number");
        }
      }
      return;
  }
}

/// Whether the command line gives the setting by a flag of this name: `n` for -n, `value_bits`.
bool has_flag(const Setting& setting, std::string name) {
  std::ranges::replace(name, '_', '-');
  const std::vector<std::string> flags = split(setting.flag);
  return std::ranges::find(flags, (name.size() == 1 ? "-" : "--") + name) != flags.end();
}

/// The paths of settings, or of an option of a scheme, that have this name in a group, or as a flag.
std::vector<std::string> paths_named(const std::string& name) {
  std::vector<std::string> paths;
  for (const Setting& setting : point_settings()) {
    const bool in_group = !setting.group().empty() && setting.name() == name;
    if (in_group || (setting.path != name && has_flag(setting, name))) {
      paths.push_back(setting.path);
    }
  }
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    if (std::ranges::find(scheme.options, name, &algorithms::OptionInfo::name) ==
        scheme.options.end()) {
      continue;
    }
    paths.push_back("options." + name);
    break;
  }
  return paths;
}

/// Refuses a setting of points that stands beside the base and the grid of a sweep.
void refuse_beside_grid(const JsonNode& node, const std::string& key) {
  std::vector<std::string> paths = paths_named(key);
  const Settings& all = point_settings();
  const auto begins = [&](const Setting& setting) {
    return setting.path == key || setting.group() == key;
  };
  if (std::ranges::any_of(all, begins)) paths.insert(paths.begin(), key);
  if (paths.empty()) return;
  const bool several = node.json().at(key).is_array();
  refuse(node.path(), node.at(key).pointer(),
         fmt::format("unknown key '{}'; did you mean '{}.{}'?", key, several ? "grid" : "base",
                     paths.front()));
}

void be_object(const JsonNode& node, std::vector<std::string> keys, bool names_schema) {
  if (!node.json().is_object()) node.wrong("object");
  const bool of_sweep = std::ranges::find(keys, "grid") != keys.end();
  for (const auto& item : node.json().items()) {
    if (!names_schema || std::ranges::find(keys, item.key()) != keys.end()) continue;
    if (of_sweep) {
      refuse_beside_grid(node, item.key());
      continue;
    }
    if (did_you_mean(item.key(), keys).starts_with("; did")) continue;  // a slip of the pen
    std::vector<std::string> paths = paths_named(item.key());
    // What stands in a group of this name may be a setting of another one: base.model.
    if (paths.empty() && item.value().is_object() && item.value().size() == 1) {
      const std::string& name = item.value().begin().key();
      paths = paths_named(name);
      if (std::ranges::find(keys, name) != keys.end()) paths.push_back(name);
    }
    if (paths.empty()) continue;
    refuse(node.path(), node.at(item.key()).pointer(),
           fmt::format("unknown key '{}'; did you mean '{}'?", item.key(),
                       fmt::join(paths, "' or '")));
  }
  if (names_schema && node.has("$schema")) keys.emplace_back("$schema");
  node.be_object(std::vector<std::string_view>(keys.begin(), keys.end()));
}

void check_node(const JsonNode& root, const Settings& settings) {
  static const KeysByGroup of_points = keys_by_group(point_settings());
  const bool whole = &settings == &point_settings();
  const KeysByGroup own = whole ? KeysByGroup() : keys_by_group(settings);
  const KeysByGroup& keys = whole ? of_points : own;
  Complaints complaints;
  std::set<std::string> objects;
  const auto check_object = [&](const std::string& group, const JsonNode& node) {
    if (node.json().is_object()) objects.insert(group);
    complaints.attempt([&] { be_object(node, keys.at(group), group.empty()); });
  };
  check_object("", root);
  if (objects.empty()) complaints.check();
  for (const auto& [group, names] : keys) {
    if (!group.empty() && root.has(group)) check_object(group, root.at(group));
  }
  for (const Setting& setting : settings) {
    const std::string group = setting.group();
    if (!objects.contains(group)) continue;
    const JsonNode object = group.empty() ? root : root.at(group);
    if (!object.has(setting.name())) continue;
    complaints.attempt([&] { check_value(object.at(setting.name()), setting); });
  }
  complaints.check();
}

/// Checks that every key has a non-empty list of values.
void check_lists(const JsonNode& node) {
  if (!node.json().is_object()) node.wrong("object");
  for (const auto& item : node.json().items()) {
    if (item.value().is_array() && !item.value().empty()) continue;
    node.at(item.key()).wrong("array, not empty: the values to go through");
  }
}

/// A complaint about a point that has one value of the grid, with the grid's pointer in place of
/// the point's: "/input/skew: why" of the key "input.skew" becomes "/grid/input.skew/0: why".
std::string in_grid(const std::string& complaint, const std::string& key, const JsonNode& value) {
  const std::string pointer = pointer_of(key);
  const std::string at = fmt::format("{}: {}", value.path(), value.pointer());
  if (complaint.starts_with(pointer)) return at + complaint.substr(pointer.size());
  return fmt::format("{}: {}", at, complaint);
}

/// Checks each value of the grid separately, so that the error message can point at it.
void check_grid(const JsonNode& grid) {
  Complaints complaints;
  for (const auto& axis : grid.json().items()) {
    for (const JsonNode& value : grid.at(axis.key()).elements()) {
      const std::string begin = grid.path() + ": ";
      try {
        Json point = Json::object();
        set_by_path(point, axis.key(), value.json());
        check_point(point, grid.path());
      } catch (const InputError& error) {
        const std::string text = error.what();
        complaints.add(
            in_grid(text.starts_with(begin) ? text.substr(begin.size()) : text, axis.key(), value));
        if (text.find(": unknown key '") != std::string::npos) break;  // whatever the value
      }
    }
  }
  complaints.check();
}

void check_options_of(const JsonNode& schemes) {
  if (!schemes.json().is_object()) schemes.wrong("object: the options of each scheme");
  for (const auto& scheme : schemes.json().items()) {
    if (!scheme.value().is_object()) schemes.at(scheme.key()).wrong("object: the options");
  }
}

}  // namespace

void check_point(const Json& point, const std::string& origin, const Settings& settings) {
  check_node(JsonNode(origin, point), settings);
}

void check_sweep(const Json& sweep, const std::string& origin) {
  const JsonNode root(origin, sweep);
  be_object(root, {"name", "description", "base", "grid", "options_of", "except"}, true);
  static const std::regex name_pattern("[A-Za-z0-9][A-Za-z0-9_.-]*");
  constexpr std::size_t kLongest = 200;  // the name of the results file contains it
  Complaints complaints;
  complaints.attempt([&] {
    const std::string name = root.at("name").text();
    if (name.size() > kLongest || !std::regex_match(name, name_pattern)) {
      root.at("name").wrong("a text of letters, digits, '_', '.' and '-': names the results");
    }
  });
  if (root.has("description")) {
    complaints.attempt([&] { static_cast<void>(root.at("description").text()); });
  }
  if (root.has("base")) {
    complaints.attempt([&] { check_node(root.at("base"), point_settings()); });
  }
  const bool lists = !root.has("grid") || complaints.attempt([&] { check_lists(root.at("grid")); });
  if (root.has("grid") && lists) {
    complaints.attempt([&] { check_grid(root.at("grid")); });
  }
  if (root.has("options_of")) {
    complaints.attempt([&] { check_options_of(root.at("options_of")); });
  }
  if (root.has("except")) {
    complaints.attempt([&] {
      for (const JsonNode& entry : root.at("except").elements()) {
        check_lists(entry);
        if (entry.json().empty()) entry.wrong("object, not empty");
      }
    });
  }
  complaints.check();
}

void assign(Point& point, const Json& given, const Settings& settings) {
  for (const Setting& setting : settings) {
    const Json* const found = find_by_path(given, setting.path);
    if (found == nullptr || !setting.set) continue;
    const Json value = without_unit(*found, setting);
    const bool word = value.is_string() && setting.kind != SettingKind::text;
    if (!word) setting.set(point, value);
  }
}

Json config_of(const Point& point, const Settings& settings) {
  Json config = Json::object();
  for (const Setting& setting : settings) {
    if (!setting.get) continue;
    if (const std::optional<Json> value = setting.get(point)) {
      set_by_path(config, setting.path, *value);
    }
  }
  return config;
}

Json without_unit(const Json& value, const Setting& setting) {
  const bool number = setting.kind == SettingKind::number || setting.kind == SettingKind::integer;
  if (!number || setting.unit.empty() || !value.is_string()) return value;
  return value_of(value.get<std::string>(), setting);
}

Json value_of(const std::string& word, const Setting& setting) {
  if (setting.kind == SettingKind::number) {
    const std::optional<double> value = parse_quantity(word, setting.unit);
    return value ? Json(*value) : Json(word);
  }
  if (setting.kind != SettingKind::integer) return word;
  if (const auto large = parse_number<std::uint64_t>(word)) return *large;
  const std::optional<std::int64_t> value = parse_whole(word, setting.unit);
  return value ? Json(*value) : Json(word);
}

void set_by_path(Json& target, const std::string& path, const Json& value) {
  Json* node = &target;
  std::size_t begin = 0;
  const auto below = [&](const std::string& key) -> Json& {
    if (!node->is_object() && !node->is_null()) {
      throw InputError("{}: '{}' is no object, so it has no '{}'", path,
                       path.substr(0, begin == 0 ? 0 : begin - 1), key);
    }
    return (*node)[key];
  };
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    node = &below(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  below(path.substr(begin)) = value;
}

std::string pointer_of(std::string path) {
  std::ranges::replace(path, '.', '/');
  return "/" + path;
}

const Json* find_by_path(const Json& json, const std::string& path) {
  const std::size_t dot = path.find('.');
  const auto found = json.find(path.substr(0, dot));
  if (found == json.end()) return nullptr;
  return dot == std::string::npos ? &*found : find_by_path(*found, path.substr(dot + 1));
}

}  // namespace thinwire::plan
