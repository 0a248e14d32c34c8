#include "sim/app/cli/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/quantity.hpp"
#include "topologies/loading/platform_xml.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::cli {

namespace {

/// Whether two paths are the same, or one is in the other: machine and machine.alpha_s.
bool overlap(const std::string& one, const std::string& other) {
  return one == other || one.starts_with(other + ".") || other.starts_with(one + ".");
}

/// With several networks, alphabeta takes the α and β that are given, and the others the platform.
void leave_platform(const Json& given, plan::Request& request) {
  const bool several = given.contains("network") && given.at("network").is_array();
  const bool own_machine =
      given.contains("machine.alpha_s") || given.contains("machine.beta_s_per_word");
  if (!several || !own_machine || *request.find("network") != "alphabeta") return;
  Json values = request.values();
  values.erase("platform");
  values.erase("placement");
  request.complete(std::move(values));
}

/// Notes values of flags that cannot be meant.
void say_of_machine(const Json& given) {
  constexpr double kLongest = 1e-3;
  constexpr double kSlowest = 1e-6;
  for (const auto& [key, most, usual] :
       {std::tuple{"machine.alpha_s", kLongest, "microseconds, as in 2us"},
        {"machine.latency_s", kLongest, "microseconds, as in 2us"},
        {"machine.beta_s_per_word", kSlowest, "nanoseconds, as in 0.4ns or 80Gbps"}}) {
    if (!given.contains(key)) continue;
    const Json& all = given.at(key);
    for (const Json& one : all.is_array() ? all : Json::array({all})) {
      if (!one.is_number() || one.get<double>() <= most) continue;
      say("note: {} is {}, far beyond any network; usual are {}", key,
          report::seconds_text(one.get<double>()), usual);
    }
  }
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
      throw InputError("{} {}: expected KEY=VALUE, as in {}", flag, setting, example);
    }
    const std::string key = setting.substr(0, equals);
    for (const auto& item : given.items()) {
      if (!overlap(key, item.key())) continue;
      throw InputError("{} {}: a flag already gives {}; leave one of the two out", flag, setting,
                       item.key());
    }
    for (const auto& before : found) {
      if (!overlap(key, before.first)) continue;
      throw InputError("{} {}: {} is given twice", flag, setting, before.first);
    }
    found.emplace_back(key, setting.substr(equals + 1));
  }
  return found;
}

Asked asked_of(const std::string& config, const Json& given,
               const std::vector<std::string>& settings, const std::function<Json(Json)>& complete,
               Unread unread) {
  std::vector<std::pair<std::string, Json>> set;
  for (const auto& [key, text] : settings_from("--set", settings, given, "input.overlap=0.5")) {
    set.emplace_back(key, value_from(key, text));
  }
  const std::string where = config.empty() ? "run" : config;
  std::vector<plan::Request> requests;
  requests.emplace_back(config.empty() ? Json::object() : read_json(config), plan::Origin::config,
                        where);
  std::vector<std::string> keys;
  for (const auto& item : given.items()) keys.push_back(item.key());
  // The first ones vary fastest, so that the networks of a scheme stand side by side.
  std::stable_partition(keys.begin(), keys.end(), [](const std::string& key) {
    return key == "network" || key == "platform";
  });
  for (const std::string& key : keys) {
    const Json values = given.at(key).is_array() ? given.at(key) : Json::array({given.at(key)});
    std::vector<plan::Request> more;
    for (const Json& value : values) {
      for (plan::Request request : requests) {
        request.give(key, value, plan::Origin::flag);
        more.push_back(std::move(request));
      }
    }
    requests = std::move(more);
  }
  Asked asked;
  std::set<std::string> known;
  plan::Usage usage;
  for (plan::Request& request : requests) {
    for (const auto& [key, value] : set) request.give(key, value, plan::Origin::flag);
    leave_platform(given, request);
    if (complete) request.complete(complete(request.values()));
    const plan::Plan one = plan::resolve(std::move(request));
    usage.add(one);
    const plan::Sparsity sparsity = one.sparsity();
    if (sparsity.is_rounded() && !one.point().scheme->dense) {
      say("note: {}: k is {} instead of {}, a multiple of the granule of {} components",
          one.point().scheme->name, sparsity.k, sparsity.asked, one.point().space.granule);
    }
    if (known.insert(what_is_read(one.point())).second) asked.points.push_back(one.point());
  }
  Complaints complaints;
  for (const plan::Given& one : usage.unread()) {
    if (unread == Unread::noted && one.origin == plan::Origin::flag) {
      say("note: {}", one.complaint());
      asked.unused.push_back(one.path);
    } else if (unread != Unread::accepted) {
      complaints.add(fmt::format("{}: {}", where, one.complaint()));
    }
  }
  complaints.check();
  say_repeated(requests.size() - asked.points.size(), asked.points);
  say_if_eager(asked.points);
  say_of_platforms(asked.points);
  say_of_machine(given);
  return asked;
}

std::vector<plan::Point> points_of(const std::string& config, const Json& given,
                                   const std::vector<std::string>& settings,
                                   const std::function<Json(Json)>& complete, Unread unread) {
  return asked_of(config, given, settings, complete, unread).points;
}

void say_of_platforms(const std::vector<plan::Point>& points) {
  std::set<std::string> said;
  for (const plan::Point& point : points) {
    // What is shipped has nothing to say. What cannot be read is refused by the run.
    if (point.platform.empty()) continue;
    const std::string file = topologies::kPlatforms.file(point.platform);
    const bool own = file == point.platform && std::filesystem::is_regular_file(file);
    if (!own || !said.insert(file).second) continue;
    try {
      const topologies::PlatformXml xml = topologies::read_platform_xml(file);
      if (!xml.note().empty()) say("{}: {}", file, xml.note());
      if (!xml.gap_note().empty()) say("note: {}: {}", file, xml.gap_note());
      if (point.network->name == "alphabeta") {
        say("note: {}: the network alphabeta takes alpha, beta and the ranks per node from it; its "
            "links are simulated with --network links",
            file);
      }
    } catch (const InputError&) {
    }
  }
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
