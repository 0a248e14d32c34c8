#include "sim/app/experiment/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/app/experiment/config.hpp"

namespace thinwire::experiment {

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
  if (!setting.readers.empty()) text += fmt::format(". Read by: {}", setting.readers);
  if (const std::string standard = setting.default_text(); !standard.empty()) {
    text += fmt::format(". Default: {}", standard);
  }
  return text;
}

Json number_schema(const Setting& setting, const char* type) {
  Json schema = {{"type", type}};
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

Json lists_schema(const std::string& description, const std::string& of_values) {
  return {
      {"type", "object"},
      {"description", description},
      {"additionalProperties", {{"type", "array"}, {"minItems", 1}, {"description", of_values}}}};
}

}  // namespace

Json sweep_schema(const Settings& settings) {
  Json except = lists_schema("an exception: keys of the grid, with some of their values",
                             "values of the grid");
  except["minProperties"] = 1;
  Json grid = lists_schema(
      "key of a point (input.overlap, options.tau ... for nested ones) to a "
      "list of values",
      "the values to go through");
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
        {"base", {{"$ref", "#/definitions/point"}}},
        {"grid", grid},
        {"except",
         {{"type", "array"},
          {"description",
           "combinations of the grid that are left out: every point that has one of the values of "
           "each key of an entry"},
          {"items", except}}}}},
      {"definitions", {{"point", point_schema(settings)}}}};
}

std::string settings_page(const Settings& settings) {
  std::string page =
      "# Settings of a point\n\n"
      "This page lists every setting of a simulation. `thinwire list settings` prints it, from "
      "the\n"
      "table in `sim/app/experiment/settings.cpp`. A setting is a key of a config, a key of a\n"
      "sweep's `base` and `grid`, a `--set KEY=VALUE` of `thinwire run`, and where the column\n"
      "says so a flag of its own.\n\n"
      "| key | flag | value | default | read by | what it is |\n"
      "|---|---|---|---|---|---|\n";
  for (const Setting& setting : settings) {
    std::string value = setting.wanted();
    if (!setting.unit.empty()) value += fmt::format(" ({})", setting.unit);
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", setting.path,
                        setting.flag.empty() ? "" : fmt::format("`{}`", setting.flag), value,
                        setting.default_text(),
                        setting.readers.empty() ? "every run" : setting.readers, setting.help);
  }
  return page;
}

}  // namespace thinwire::experiment
