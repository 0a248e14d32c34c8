#include "sim/app/plan/point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/core/base/code_file.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"
#include "topologies/loading/simgrid_module.hpp"
#include "traces/shipped.hpp"

namespace thinwire::plan {

Seconds Machine::per_word(Seconds in_cache, Seconds beyond, std::int64_t components) const {
  const double working_set = 8 * static_cast<double>(components);
  const auto held = static_cast<double>(cache.value());
  if (beyond == Seconds(0) || cache == Bytes(0) || working_set <= held) return in_cache;
  return in_cache + (beyond - in_cache) * (1 - held / working_set);
}

Seconds Machine::gamma(std::int64_t components) const {
  return per_word(gamma_per_word, gamma_beyond_cache, components);
}

Seconds Machine::copy(std::int64_t components) const {
  return per_word(copy_per_word, copy_beyond_cache, components);
}

networks::HostCosts Machine::host_for(std::int64_t components, std::uint64_t seed) const {
  networks::HostCosts result = host;
  result.seed = seed;
  result.eager_copy_per_word =
      per_word(host.eager_copy_per_word, eager_copy_beyond_cache, components);
  return result;
}

bool has_papers_machine(const Point& point) {
  return std::ranges::all_of(point_settings(), [&](const Setting& setting) {
    if (setting.group() != "machine" || setting.in_formulas) return true;
    const std::optional<Json> value = setting.get(point);
    return !value || is_default(setting, *value);
  });
}

void check_trace(const Point& point, const traces::TraceHeader& trace) {
  if (point.data_ranks() > trace.ranks) {
    throw InputError("/ranks: {} are more than the {} of the trace {}", point.data_ranks(),
                     trace.ranks, point.input.trace);
  }
  if (point.space.components != trace.components) {
    throw InputError("/components: {}, but the trace {} has {}; leave it out",
                     point.space.components, point.input.trace, trace.components);
  }
}

Point point_from(const Json& given, const std::string& origin) {
  const Plan plan = resolve(Request(given, Origin::config, origin));
  Complaints complaints;
  for (const Given& one : plan.given()) {
    if (one.use == Use::left_out) complaints.add(origin + ": " + one.complaint());
  }
  complaints.check();
  return plan.point();
}

Json to_json(const Point& point) { return config_of(point); }

Json computation_of(const Point& point) {
  static const Settings computing = [] {
    Settings settings = point_settings();
    std::erase_if(settings, [](const Setting& setting) {
      return setting.aspect == Aspect::place || setting.aspect == Aspect::record ||
             setting.group() == "stragglers";
    });
    return settings;
  }();
  Json json = config_of(point, computing);
  if (point.scheme->dense) {
    for (const char* of_selection : {"k", "input", "seed", "iterations"}) json.erase(of_selection);
  }
  return json;
}

std::string what_is_read(const Point& point) {
  Json json = to_json(point);
  if (point.scheme->dense) json.erase("k");
  return json.dump();
}

std::string key_of(const Point& point) {
  std::string all = version() + to_json(point).dump();
  if (version_is_uncertain()) {
    all += hash_of_file(code_file());
    if (!point.platform.empty()) all += hash_of_file(topologies::kSimGrid.file());
  }
  if (!point.platform.empty()) {
    all += read_text_if_any(topologies::kPlatforms.file(point.platform)) +
           read_text_if_any(topologies::placement_file(point.placement));
  }
  if (point.parallel.file) all += read_text_if_any(point.parallel.file->path);
  if (!point.input.profile.empty())
    all += read_text_if_any(traces::kProfiles.file(point.input.profile));
  if (!point.workload.model.empty()) {
    all += read_text_if_any(workloads::kModels.file(point.workload.model)) +
           read_text_if_any(workloads::kDevices.file(point.workload.device));
  }
  if (!point.input.trace.empty()) all += hash_of_file(traces::kTraces.file(point.input.trace));
  return hash_of_text(all);
}

std::optional<std::string> restriction_of(const Point& point) {
  return point.scheme->restriction(point.data_ranks(), point.space.components);
}

}  // namespace thinwire::plan
