#include "sim/app/cli/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/app/cli/command.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/effects.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/quantity.hpp"

namespace thinwire::cli {

namespace {

/// Whether two paths are the same, or one is in the other: machine and machine.alpha_s.
bool overlap(const std::string& one, const std::string& other) {
  return one == other || one.starts_with(other + ".") || other.starts_with(one + ".");
}

}  // namespace

Json value_from(const std::string& key, const std::string& text) {
  try {
    Json value = parse_json(text, "--set " + key);
    if (!value.is_number_float()) return value;  // 1e6 may be meant as a whole number
  } catch (const Json::parse_error&) {           // no JSON: 2us, fat_tree
  }
  const plan::Settings& settings = plan::point_settings();
  const auto setting = std::ranges::find(settings, key, &plan::Setting::path);
  if (setting != settings.end()) return plan::value_of(text, *setting);
  if (const auto whole = parse_whole(text)) return *whole;  // options of schemes have no unit
  if (const auto number = parse_quantity(text)) return *number;
  return text;
}

std::vector<std::pair<std::string, std::string>> settings_from(
    const std::string& flag, const std::vector<std::string>& settings, const Json& given,
    const std::string& example) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError(fmt::format("{} {}: expected KEY=VALUE, as in {}", flag, setting, example));
    }
    const std::string key = setting.substr(0, equals);
    for (const auto& item : given.items()) {
      if (!overlap(key, item.key())) continue;
      throw InputError(fmt::format("{} {}: a flag gives {} already; leave one of the two out", flag,
                                   setting, item.key()));
    }
    for (const auto& before : found) {
      if (!overlap(key, before.first)) continue;
      throw InputError(fmt::format("{} {}: {} is given twice", flag, setting, before.first));
    }
    found.emplace_back(key, setting.substr(equals + 1));
  }
  return found;
}

std::vector<plan::Point> points_of(const std::string& config, const Json& given,
                                   const std::vector<std::string>& settings,
                                   const std::function<Json(Json)>& complete, Idle idle) {
  if (given.contains("k") && given.contains("density")) {
    throw InputError("-k: give -k or --density, not both");
  }
  std::vector<std::pair<std::string, Json>> set;
  for (const auto& [key, text] : settings_from("--set", settings, given, "input.overlap=0.5")) {
    set.emplace_back(key, value_from(key, text));
  }
  const Json of_config = config.empty() ? Json::object() : read_json(config);
  std::vector<Json> points{of_config};
  for (const auto& item : given.items()) {
    const Json values = item.value().is_array() ? item.value() : Json::array({item.value()});
    std::vector<Json> more;
    for (const Json& value : values) {
      for (Json point : points) {
        if (item.key() == "k" && point.is_object()) point.erase("density");
        if (item.key() == "density" && point.is_object()) point.erase("k");
        plan::set_by_path(point, item.key(), value);
        more.push_back(std::move(point));
      }
    }
    points = std::move(more);
  }
  std::vector<plan::Point> settled;
  std::set<std::string> known;
  const std::string origin = config.empty() ? "run" : config;
  plan::GivenSettings all;
  Json of_flags = Json::object();
  for (const auto& item : given.items()) {
    plan::set_by_path(of_flags, item.key(), item.value());
  }
  for (const auto& [key, value] : set) plan::set_by_path(of_flags, key, value);
  std::set<std::string> schemes;
  for (const Json& point : points) {
    if (point.is_object() && point.contains("scheme") && point.at("scheme").is_string()) {
      schemes.insert(point.at("scheme").get<std::string>());
    }
  }
  for (Json& point : points) {
    for (const auto& [key, value] : set) plan::set_by_path(point, key, value);
    plan::leave_options_to_others(point, schemes);
    if (complete) point = complete(std::move(point));
    plan::Point one = plan::point_from(point, origin);
    all.add(of_config, one);
    all.add(of_flags, one);
    if (known.insert(what_is_read(one)).second) settled.push_back(std::move(one));
  }
  if (idle == Idle::refused) all.check(origin);
  say_repeated(points.size() - settled.size(), settled);
  say_if_eager(settled);
  return settled;
}

void say_if_eager(const std::vector<plan::Point>& points) {
  static constexpr Bytes kUsual{1 << 20};
  const bool large = std::ranges::any_of(
      points, [](const plan::Point& point) { return point.machine.host.eager > kUsual; });
  if (!large) return;
  say("--eager (machine.eager_bytes) is above 1 MiB, far beyond the limits of MPI libraries: ports "
      "may be busy with messages that nobody waits for yet, and times may exceed a paper's upper "
      "bound");
}

}  // namespace thinwire::cli
