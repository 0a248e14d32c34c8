#include "sim/app/plan/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::plan {

namespace {

using Described = std::pair<std::string_view, std::string_view>;

constexpr std::array kGroups{
    Described{"machine", "parameters of the α-β machine (LogGP)"},
    Described{"record", "what to keep of a run beyond totals and phases"},
    Described{"input", "where gradients come from: a trace, a profile, or synthetic ones"},
    Described{"links", "how messages cross the links of the platform, on the network links"},
    Described{"workload", "a whole iteration of a training around the allreduce"}};

/// A bound without a fraction where it has none.
Json bound(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

std::string description_of(const Setting& setting) {
  std::string text = setting.help;
  if (!setting.unit.empty()) text += fmt::format("; in {}", setting.unit);
  if (const std::string readers = setting.readers(); !readers.empty()) {
    text += fmt::format(". Read by: {}", readers);
  }
  if (const std::string standard = setting.default_text(); !standard.empty()) {
    text += fmt::format(". Default: {}", standard);
  }
  return text;
}

Json number_schema(const Setting& setting, const char* type) {
  // A text has the number with its unit.
  Json schema = {{"type", setting.unit.empty() ? Json(type) : Json({type, "string"})}};
  if (setting.least) schema["minimum"] = bound(*setting.least);
  if (setting.most) schema["maximum"] = bound(*setting.most);
  return schema;
}

Json schema_of(const Setting& setting) {
  Json schema = Json::object();
  switch (setting.kind) {
    case SettingKind::boolean:
      schema["type"] = "boolean";
      break;
    case SettingKind::integer:
      schema = number_schema(setting, "integer");
      if (!setting.choices.empty()) {
        schema = {{"anyOf", {schema, {{"enum", setting.choices}}}}};
      }
      break;
    case SettingKind::number:
      schema = number_schema(setting, "number");
      break;
    case SettingKind::text:
      schema["type"] = "string";
      if (!setting.choices.empty()) schema["enum"] = setting.choices;
      break;
    case SettingKind::integers:
      schema = {{"type", "array"}, {"items", number_schema(setting, "integer")}};
      break;
    case SettingKind::options:
      schema = {{"type", "object"}, {"additionalProperties", {{"type", {"boolean", "number"}}}}};
      break;
  }
  schema["description"] = description_of(setting);
  return schema;
}

Json object_schema() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

Json point_schema(const Settings& settings) {
  const Json reference = {{"type", "string"}, {"description", "where editors find this schema"}};
  Json point = object_schema();
  point["properties"]["$schema"] = reference;
  for (const Setting& setting : settings) {
    Json* object = &point;
    if (const std::string group = setting.group(); !group.empty()) {
      object = &point["properties"][group];
      if (object->is_null()) *object = object_schema();
      for (const auto& [name, help] : kGroups) {
        if (name == group) (*object)["description"] = help;
      }
    }
    (*object)["properties"][setting.name()] = schema_of(setting);
  }
  return point;
}

/// A shipped name, or the path of a file.
Json name_or_file(const std::vector<std::string>& names, const std::string& extension) {
  return {{"anyOf", {{{"enum", names}}, {{"pattern", "/|\\" + extension + "$"}}}}};
}

/// Schemes, and each sparse one with the sparsifiers that it can carry.
Json scheme_names() {
  std::vector<std::string> names;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    names.push_back(scheme.name);
    std::ranges::move(algorithms::composed_names(scheme), std::back_inserter(names));
  }
  return {{"enum", names}};
}

/// The options of all schemes and sparsifiers, with their help.
Json option_schemas() {
  Json options = Json::object();
  for (const algorithms::OptionInfo& option : algorithms::all_options()) {
    const char* const type = std::holds_alternative<bool>(option.fallback)           ? "boolean"
                             : std::holds_alternative<std::int64_t>(option.fallback) ? "integer"
                                                                                     : "number";
    options[option.name] = {{"type", type}, {"description", option.help}};
  }
  return options;
}

/// The names that a setting takes, by path: what rows of programs with schemes of their own need
/// not keep to, but sweeps do.
Json known_names() {
  std::vector<std::string> networks;
  for (const NetworkInfo& network : all_networks()) networks.push_back(network.name);
  return {{"scheme", scheme_names()},
          {"network", {{"enum", networks}}},
          {"platform", name_or_file(topologies::kPlatforms.names(), ".(xml|json)")},
          {"input.trace", name_or_file(traces::kTraces.names(), ".h5")},
          {"input.profile", name_or_file(traces::kProfiles.names(), ".json")},
          {"workload.model", name_or_file(workloads::kModels.names(), ".json")},
          {"workload.device", name_or_file(workloads::kDevices.names(), ".json")}};
}

/// The names of `known_names` in the shape of a point.
Json names_schema() {
  Json schema = {{"properties", Json::object()}};
  const Json names = known_names();
  for (const auto& item : names.items()) {
    const std::size_t dot = item.key().find('.');
    Json& properties = schema["properties"];
    if (dot == std::string::npos) {
      properties[item.key()] = item.value();
    } else {
      properties[item.key().substr(0, dot)]["properties"][item.key().substr(dot + 1)] =
          item.value();
    }
  }
  schema["properties"]["options"] = {{"additionalProperties", false},
                                     {"properties", option_schemas()}};
  return schema;
}

/// An object of lists of values, by the path of a setting or the name of a group of them.
Json lists_schema(const Settings& settings) {
  Json lists = object_schema();
  Json& properties = lists["properties"];
  const auto add = [&](const std::string& path, const Json& of_one) {
    properties[path] = {{"type", "array"}, {"minItems", 1}, {"items", of_one}};
  };
  const Json names = known_names();
  for (const Setting& setting : settings) {
    if (const std::string group = setting.group(); !group.empty() && !properties.contains(group)) {
      add(group, {{"type", "object"}});
    }
    Json one = schema_of(setting);
    if (names.contains(setting.path)) one.update(names.at(setting.path));
    add(setting.path, one);
  }
  const Json options = option_schemas();
  for (const auto& option : options.items()) add("options." + option.key(), option.value());
  return lists;
}

}  // namespace

Json sweep_schema(const Settings& settings) {
  return {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"$id", "urn:thinwire:sweep"},
      {"title", "Thinwire sweep"},
      {"description",
       "A grid of simulations: every combination of the values in 'grid', on top of 'base'."},
      {"type", "object"},
      {"additionalProperties", false},
      {"required", {"name"}},
      {"properties",
       {{"$schema", {{"type", "string"}, {"description", "where editors find this schema"}}},
        {"name",
         {{"type", "string"},
          {"pattern", "^[A-Za-z0-9][A-Za-z0-9_.-]*$"},
          {"maxLength", 200},
          {"description", "names the results"}}},
        {"description",
         {{"type", "string"}, {"description", "the question that the sweep answers"}}},
        {"base",
         {{"allOf", {{{"$ref", "#/definitions/point"}}, {{"$ref", "#/definitions/names"}}}}}},
        {"grid",
         {{"allOf", {{{"$ref", "#/definitions/lists"}}}},
          {"description",
           "for each setting (input.overlap, options.tau ... for nested ones) its values"}}},
        {"options_of",
         {{"type", "object"},
          {"description",
           "options of schemes by the scheme's name, where neither base nor grid gives them"},
          {"additionalProperties", {{"type", "object"}}}}},
        {"except",
         {{"type", "array"},
          {"description",
           "combinations of the grid that are left out: every point that has one of the values of "
           "each key of an entry"},
          {"items",
           {{"allOf", {{{"$ref", "#/definitions/lists"}}}},
            {"minProperties", 1},
            {"description", "an exception: keys of the grid, with some of their values"}}}}}}},
      {"definitions",
       {{"point", point_schema(settings)},
        {"names", names_schema()},
        {"lists", lists_schema(settings)}}}};
}

std::string settings_page(const Settings& settings) {
  std::string page =
      "<!-- Made by: thinwire list settings --markdown > docs/reference/settings.md -->\n"
      "# Settings of a point\n\n"
      "This page lists every setting of a simulation. `thinwire list settings` prints it, from "
      "the\n"
      "table in `sim/app/plan/settings.cpp`. A setting is a key of a config, a key of a\n"
      "sweep's `base` and `grid`, a `--set KEY=VALUE` of `thinwire run`, and where the column\n"
      "says so a flag of its own.\n\n"
      "A setting, or an option of a scheme, that is given and that nothing reads is refused, with\n"
      "the reason; a flag of `thinwire run` is noted instead, unless there is `--strict`. With\n"
      "several schemes it is enough that the runs of one read it.\n\n"
      "| key | flag | value | default | read by | what it is |\n"
      "|---|---|---|---|---|---|\n";
  for (const Setting& setting : settings) {
    std::string value = setting.wanted();
    if (!setting.unit.empty()) value += fmt::format(" ({})", setting.unit);
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", setting.path,
                        setting.flag.empty() ? "" : fmt::format("`{}`", setting.flag), value,
                        setting.default_text(),
                        setting.readers().empty() ? "every run" : setting.readers(), setting.help);
  }
  return page;
}

}  // namespace thinwire::plan
