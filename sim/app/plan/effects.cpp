#include "sim/app/plan/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/setting_effects.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::plan {

namespace {

/// Whether the config has all that every point has, as those of rows do.
bool is_complete(const Json& given) {
  const Json always = config_of(Point());
  return std::ranges::all_of(always.items(), [&](const auto& item) {
    return item.value().is_object() || given.contains(item.key());
  });
}

/// Whether the value asks for nothing. A default that depends on the run is given for a reason.
bool asks_for_nothing(const Setting& setting, const Json& value) {
  return setting.standard.empty() && is_default(setting, value);
}

}  // namespace

void leave_options_to_others(Json& point, const std::set<std::string>& schemes) {
  if (schemes.size() < 2 || !point.is_object() || !point.contains("options")) return;
  const auto has = [](const std::string& scheme, const std::string& option) {
    return algorithms::has_option(algorithms::find_scheme(scheme).options, option);
  };
  const std::string own = point.at("scheme").get<std::string>();
  Json kept = Json::object();
  for (const auto& item : point.at("options").items()) {
    const auto has_it = [&](const std::string& scheme) { return has(scheme, item.key()); };
    if (has_it(own) || std::ranges::none_of(schemes, has_it)) kept[item.key()] = item.value();
  }
  point["options"] = std::move(kept);
}

void GivenSettings::note(const std::string& path, const std::string& why) {
  if (why.empty()) effective_.insert(path);
  idle_[path] = why;
}

void GivenSettings::add(const Json& given, const Point& point) {
  if (is_complete(given)) return;
  const auto known = schemes_.find(point.scheme);
  const algorithms::SchemeInfo& scheme =
      known != schemes_.end()
          ? known->second
          : schemes_.emplace(point.scheme, algorithms::find_scheme(point.scheme)).first->second;
  for (const Setting& setting : point_settings()) {
    const Json* const value =
        setting.effect.on != nullptr ? find_by_path(given, setting.path) : nullptr;
    if (value == nullptr || asks_for_nothing(setting, *value)) continue;
    note(setting.path, setting.effect.on(point, scheme) ? "" : setting.effect.otherwise);
  }
  if (!given.contains("options")) return;
  const algorithms::Options options(scheme.options, point.options);
  for (const auto& item : given.at("options").items()) {
    const auto info = std::ranges::find(scheme.options, item.key(), &algorithms::OptionInfo::name);
    const std::string path = "options." + item.key();
    if (info == scheme.options.end()) {
      unknown_.insert(path);
      continue;
    }
    known_.insert(path);
    if (options.all().at(info->name) == info->fallback) continue;
    const algorithms::OptionUse use{.options = options,
                                    .ranks = point.ranks,
                                    .n = point.space.components,
                                    .values = looks_at_values(point, scheme),
                                    .start_up = point.input.start_up};
    note(path, info->idle ? info->idle(use) : "");
  }
}

std::optional<GivenSettings::Idle> GivenSettings::idle() const {
  for (const auto& [path, why] : idle_) {
    if (!effective_.contains(path)) return Idle{path, "it changes nothing here: " + why};
  }
  for (const std::string& path : unknown_) {
    if (known_.contains(path)) continue;
    return Idle{path,
                "it changes nothing here: no scheme here has this option; see 'thinwire list "
                "schemes'"};
  }
  return std::nullopt;
}

void GivenSettings::check(const std::string& origin) const {
  const std::optional<Idle> found = idle();
  if (!found) return;
  throw InputError(fmt::format("{}: {}: {}", origin, pointer_of(found->path), found->why));
}

}  // namespace thinwire::plan
