#include "sim/app/report/tables/varying.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/tables/groups.hpp"

namespace thinwire::report {

Json flat_settings(const plan::Point& point) {
  using plan::SettingKind;
  const bool dense = point.scheme->dense;
  Json flat = Json::object();
  for (const plan::Setting& setting : plan::point_settings()) {
    if (setting.aspect == plan::Aspect::record || setting.kind == SettingKind::integers) continue;
    if (dense && (setting.path == "k" || setting.path == "density")) continue;
    if (setting.path == "density") flat[setting.path] = given_density(point.k, point.space);
    const std::optional<Json> value = setting.get ? setting.get(point) : std::nullopt;
    if (!value) continue;
    if (setting.kind == SettingKind::options) {
      for (const auto& item : value->items()) flat["options." + item.key()] = item.value();
    } else {
      flat[setting.path] = *value;
    }
  }
  return flat;
}

std::vector<std::string> varying_settings(const std::vector<Json>& settings) {
  std::map<std::string, Json> first;
  std::vector<std::string> varying;
  for (const Json& flat : settings) {
    for (const auto& item : flat.items()) {
      const bool option = item.key().starts_with("options.");
      const std::string scheme = option ? flat.at("scheme").get<std::string>() : "";
      const auto [known, added] = first.emplace(scheme + " " + item.key(), item.value());
      if (added || known->second == item.value()) continue;
      if (std::ranges::find(varying, item.key()) == varying.end()) varying.push_back(item.key());
    }
  }
  return varying;
}

Column setting_column(const std::string& path) {
  return {name_of_key(path), [path](const Json& record) {
            const Json& settings = record.at("settings");
            if (!settings.contains(path)) return std::string("-");
            const Json& value = settings.at(path);
            return value.is_boolean() ? plain_text(value) : text_of_value(path, value);
          }};
}

}  // namespace thinwire::report
