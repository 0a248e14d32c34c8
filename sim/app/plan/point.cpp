#include "sim/app/plan/point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <system_error>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/representatives.hpp"
#include "sim/core/base/code_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/kept_files.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/networks/links/background.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::plan {

namespace {

/// The entries that all ranks together may hold before a coordinate is several components.
constexpr double kCarriedEntries = 1 << 25;
/// The entries that a region of a rank's selection should keep, so that regions can be balanced.
constexpr double kEntriesPerRegion = 4;

/// The first key of `input` that only runs of the kind `readers` read, if there is one.
std::optional<std::string> first_read_by(const char* readers, const Json& input) {
  for (const Setting& setting : point_settings()) {
    if (setting.readers == readers && setting.group() == "input" &&
        input.contains(setting.name())) {
      return setting.name();
    }
  }
  return std::nullopt;
}

/// The density if neither the point nor a profile gives one.
constexpr double kDensity = 0.01;

std::int64_t power_of_two_below(double x) {
  return x < 2 ? 1 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(x)));
}

std::int64_t power_of_two_above(double x) {
  return x <= 1
             ? 1
             : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(x))));
}

/// The smallest power of two for which 32 bits can number the coordinates.
std::int64_t granule_of_coordinates(const Point& point) {
  return power_of_two_above(static_cast<double>(point.space.components) /
                            static_cast<double>(UINT32_MAX));
}

/// The smallest power of two for which the entries of all ranks fit, provided that a rank's
/// selection keeps some entries for each region.
std::int64_t automatic_granule(const Point& point, bool dense) {
  const auto held = static_cast<double>(dense ? point.space.components : point.k);
  std::int64_t granule = power_of_two_above(held * point.ranks / kCarriedEntries);
  if (!dense) {
    const double most = static_cast<double>(point.k) / (kEntriesPerRegion * point.ranks);
    granule = std::min(granule, power_of_two_below(most));
  }
  return std::max(granule, granule_of_coordinates(point));
}

/// Checks that tensors fill the gradient and that each begins at a granule boundary.
void settle_tensors(Point& point, bool automatic, const std::string& origin) {
  if (point.tensors.empty()) return;
  const std::int64_t total =
      std::accumulate(point.tensors.begin(), point.tensors.end(), std::int64_t{0});
  if (total != point.space.components) {
    throw InputError(fmt::format("{}: /tensors: they have {} components together, but there are {}",
                                 origin, total, point.space.components));
  }
  std::int64_t& granule = point.space.granule;
  for (std::size_t i = 0; i + 1 < point.tensors.size(); ++i) {
    if (automatic) granule = std::gcd(granule, point.tensors[i]);
    if (point.tensors[i] % granule != 0) {
      throw InputError(fmt::format("{}: /granule: {} does not divide tensor {} of {} components",
                                   origin, granule, i, point.tensors[i]));
    }
  }
}

/// Takes options of a model or a profile, where the scheme has them and the point gives none.
void take_where_none_given(Point& point, const algorithms::SchemeInfo& scheme,
                           const DefaultOptions& options) {
  for (const auto& [name, value] : options.values) {
    if (algorithms::has_option(scheme.options, name)) point.options.try_emplace(name, value);
  }
}

/// Checks the keys of a profile or of synthetic gradients; a profile gives the size. Returns the
/// density to use if the point gives none.
double settle_profile(Point& point, const Json& json, const algorithms::SchemeInfo& scheme,
                      const std::string& origin) {
  const Json input = json.contains("input") ? json.at("input") : Json::object();
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  if (point.input.profile.empty()) {
    if (const auto key = first_read_by(kProfileRuns, input)) {
      refuse("input/" + *key, "is for a profile; give 'profile'");
    }
    return kDensity;
  }
  if (const auto key = first_read_by(kSyntheticRuns, input)) {
    refuse("input/" + *key, "is for synthetic gradients; a profile has its own");
  }
  if (point.error_feedback) {
    refuse("error_feedback", "a profile describes accumulators, which hold residuals already");
  }
  try {
    const std::string path = traces::profile_file(point.input.profile);
    // A complete point can be read without the file of the profile.
    const auto is_given = [&](const algorithms::OptionInfo& option) {
      return point.options.contains(option.name);
    };
    if (json.contains("components") && (json.contains("k") || json.contains("density")) &&
        std::ranges::all_of(scheme.options, is_given)) {
      return kDensity;
    }
    static KeptFiles<traces::Profile> profiles(traces::read_profile);
    const auto profile = profiles.at(path);
    take_where_none_given(point, scheme, profile->options);
    if (!json.contains("components")) point.space.components = profile->components;
    return profile->density;
  } catch (const InputError& error) {
    refuse("input/profile", error.what());
  }
  return kDensity;
}

void settle_selection(Point& point, const Json& json, bool dense, double density,
                      const std::string& origin) {
  if (json.contains("k") && json.contains("density")) {
    throw InputError(fmt::format("{}: /k: give 'k' or 'density', not both", origin));
  }
  const bool recorded = !point.input.trace.empty();
  density = json.value("density", density);
  if (!recorded || json.contains("density")) {  // else k is that of the trace
    point.k = std::llround(density * static_cast<double>(point.space.components));
  }
  point.k = json.value("k", point.k);
  if (point.k > point.space.components) {
    throw InputError(fmt::format("{}: /k: {} is more than the {} components that there are", origin,
                                 point.k, point.space.components));
  }
  if (point.input.statistical) {
    if (json.contains("granule") && json.at("granule") != granule_of_coordinates(point)) {
      throw InputError(
          fmt::format("{}: /granule: statistical values need no granules; leave it out", origin));
    }
    point.space.granule = granule_of_coordinates(point);
  } else if (json.contains("granule") && json.at("granule").is_number()) {
    point.space.granule = json.at("granule").get<std::int64_t>();
    if (point.space.granule > point.space.components) {
      throw InputError(fmt::format("{}: /granule: {} is more than the {} components that there are",
                                   origin, point.space.granule, point.space.components));
    }
  } else {
    point.space.granule = recorded ? 1 : automatic_granule(point, dense);
  }
  const bool automatic = !json.contains("granule") || json.at("granule").is_string();
  settle_tensors(point, automatic, origin);
  if (point.space.coordinates() > static_cast<std::int64_t>(UINT32_MAX)) {
    const std::int64_t least = power_of_two_above(static_cast<double>(point.space.components) /
                                                  static_cast<double>(UINT32_MAX));
    throw InputError(fmt::format(
        "{}: /granule: {} components need a granule of {} at least{}", origin,
        point.space.components, least,
        automatic && !point.tensors.empty() ? ", and none of that size divides all tensors" : ""));
  }
  point.k -= point.k % point.space.granule;
}

/// Takes the gradient's size, density and profile from the model where the config gives none.
/// Returns the model's options, which hold for a scheme that has them and where none are given.
DefaultOptions settle_workload(Json& json, const std::string& network, const std::string& origin) {
  if (!json.contains("workload")) return {};
  const Json given = json.at("workload");
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  if (!given.contains("model")) {
    refuse(fmt::format("workload/{}", given.empty() ? "model" : given.begin().key()),
           "is for runs with a model; give workload.model (--model) too");
  }
  if (!find_network(network).has_clock) {
    refuse("network", fmt::format("{} has no clock, and a training takes time", network));
  }
  for (const char* key : {"gamma_s_per_word", "gamma_beyond_cache_s_per_word", "copy_s_per_word",
                          "copy_beyond_cache_s_per_word", "call_s", "page_s", "registration_s",
                          "registration_s_per_word"}) {
    if (json.contains("machine") && json.at("machine").value(key, 0.0) > 0) {
      refuse(fmt::format("machine/{}", key), "in a training the device says what work costs");
    }
  }
  if (!json.contains("iterations")) json["iterations"] = 0;
  if (json.value("error_feedback", false) && json.at("iterations") == 0) {
    refuse("error_feedback", "kinds of iterations do not follow one another; give 'iterations'");
  }
  if (json.value("error_feedback", false) && given.value("feedback", "residual") != "residual") {
    refuse("workload/feedback", "error_feedback carries the residual; leave one of them out");
  }
  // A complete point can be read without the file of the model.
  const bool settled = json.contains("components") && json.contains("k") &&
                       json.contains("input") && json.contains("options") &&
                       given.contains("device");
  if (settled) return {};
  static KeptFiles<workloads::Model> models(workloads::read_model);
  static KeptFiles<workloads::Device> devices(workloads::read_device);
  std::shared_ptr<const workloads::Model> kept;
  try {
    kept = models.at(workloads::model_file(given.at("model").get<std::string>()));
  } catch (const InputError& error) {
    refuse("workload/model", error.what());
  }
  const workloads::Model& model = *kept;
  if (model.compute.empty()) refuse("workload/model", "it has no computing time on any device");
  const std::string device = given.value("device", model.compute.front().device);
  json["workload"]["device"] = device;
  try {
    const std::string file = workloads::device_file(device);
    static_cast<void>(workloads::compute_on(model, devices.at(file)->name));
  } catch (const InputError& error) {
    refuse("workload/device", error.what());
  }
  Json input = json.contains("input") ? json.at("input") : Json{{"statistical", true}};
  const bool recorded = input.contains("trace");
  if (!json.contains("components")) json["components"] = model.components;
  if (json.at("components") != model.components) {
    refuse("components", fmt::format("the model {} has {}", model.name, model.components));
  }
  if (!recorded && !input.contains("profile") && !first_read_by(kSyntheticRuns, input)) {
    input["profile"] = model.profile;
  }
  json["input"] = input;
  if (!recorded && !json.contains("k") && !json.contains("density")) {
    json["density"] = model.density;
  }
  return model.options;
}

/// Takes n from the trace, and k unless it is given; refuses settings that contradict the trace.
void settle_trace(Point& point, const Json& json, const std::string& origin) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  for (const auto& item : json.at("input").items()) {
    if (item.key() == "trace") continue;
    refuse("input/" + item.key(), "is of synthetic gradients; leave it or 'trace' out");
  }
  if (point.error_feedback) {
    refuse("error_feedback",
           "the trace's values are of accumulators, which hold the residuals already; set it to "
           "false");
  }
  if (json.contains("granule") && json.at("granule").is_number() && json.at("granule") != 1) {
    refuse("granule", "a trace's coordinates are components; leave it out");
  }
  std::string path;
  try {
    path = traces::trace_file(point.input.trace);
  } catch (const InputError& error) {
    refuse("input/trace", error.what());
  }
  // A complete point can be read without the file of the trace.
  std::error_code ignored;
  if (json.contains("ranks") && json.contains("components") && json.contains("k") &&
      !std::filesystem::exists(path, ignored)) {
    point.k = json.at("k").get<std::int64_t>();
    return;
  }
  const traces::TraceReader trace(path);
  if (!json.contains("ranks")) point.ranks = trace.header().ranks;
  if (!json.contains("components")) point.space.components = trace.header().components;
  point.k = trace.header().k();
  try {
    check_trace(point, trace.header());
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", origin, error.what()));
  }
}

/// Refuses settings that the network would ignore, unless they have their default value.
void check_readers(const Point& point, const Json& json, const std::string& origin) {
  for (const Setting& setting : point_settings()) {
    const Json* const value = find_by_path(json, setting.path);
    if (value == nullptr || setting.read_on(point.network)) continue;
    if (is_default(setting, *value)) continue;
    throw InputError(fmt::format("{}: {}: the network {} does not read it; {} does", origin,
                                 pointer_of(setting.path), point.network, setting.readers));
  }
}

/// Refuses stragglers that would change nothing.
void settle_stragglers(const Point& point, const Json& json, const std::string& origin) {
  const Stragglers& slow = point.stragglers;
  if (find_by_path(json, "stragglers.factor") != nullptr && slow.ranks == 0) {
    throw InputError(fmt::format(
        "{}: /stragglers/factor: no rank is slow; say how many in stragglers.ranks", origin));
  }
  if (!slow.any()) return;
  if (slow.ranks > point.ranks) {
    throw InputError(fmt::format("{}: /stragglers/ranks: {} are more than the {} of the run",
                                 origin, slow.ranks, point.ranks));
  }
  const Machine& machine = point.machine;
  const bool works = !point.workload.model.empty() || machine.gamma_per_word > Seconds(0) ||
                     machine.gamma_beyond_cache > Seconds(0) || machine.call > Seconds(0) ||
                     machine.copy_per_word > Seconds(0) || machine.copy_beyond_cache > Seconds(0) ||
                     machine.fresh.is_priced();
  if (works) return;
  throw InputError(
      fmt::format("{}: /stragglers: local work takes no time here, so no rank is slow in it; give "
                  "a training (--model) or the price of sums (--gamma)",
                  origin));
}

/// Checks that network, platform and machine are compatible.
void settle_network(Point& point, const Json& json, const std::string& origin) {
  const NetworkInfo& network = find_network(point.network);
  const auto refuse = [&](const char* key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  if (network.platform == PlatformUse::needed && point.platform.empty()) {
    point.platform = kDefaultPlatform;
  }
  if (network.platform == PlatformUse::none && !point.platform.empty()) {
    refuse("platform", fmt::format("the network {} knows no platform", point.network));
  }
  if (point.platform.empty() && point.placement != "block") {
    refuse("placement", "there is no platform on which to place ranks; give 'platform'");
  }
  for (const auto& [key, factor] : {std::pair{"latency_factor", point.latency_factor},
                                    std::pair{"bandwidth_factor", point.bandwidth_factor}}) {
    if (factor == 1) continue;
    if (point.platform.empty())
      refuse(key,
             "there is no platform; give 'platform', or other machine.alpha_s and "
             "machine.beta_s_per_word");
    if (point.packets) refuse(key, "packets have the figures of the platform; leave it out");
  }
  if (point.packets && point.flows_per_port > 0) {
    refuse("flows_per_port", "packets are no flows; leave one of them out");
  }
  if (point.packets && point.time_resolution > Seconds(0)) {
    refuse("time_resolution_s", "packets have a clock of their own; leave one of them out");
  }
  if (point.packets && point.record.links) {
    refuse("record/links", "packets are not counted by link; leave one of them out");
  }
  for (const char* key : {"alpha_s", "beta_s_per_word", "latency_s"}) {
    if (!point.platform.empty() && json.contains("machine") && json.at("machine").contains(key)) {
      refuse("machine", fmt::format("'{}' comes from the platform; leave one of them out", key));
    }
  }
  check_readers(point, json, origin);
  const Machine& machine = point.machine;
  const bool beyond_cache = machine.gamma_beyond_cache > Seconds(0) ||
                            machine.eager_copy_beyond_cache > Seconds(0) ||
                            machine.copy_beyond_cache > Seconds(0);
  if (beyond_cache != (machine.cache > Bytes(0))) {
    refuse("machine", "'cache_bytes' and times beyond the cache say nothing one without the other");
  }
  if (machine.fresh.beyond > Bytes(0) && !machine.fresh.is_priced()) {
    refuse("machine/fresh_beyond_bytes", "fresh memory takes no time; give 'page_s'");
  }
  const networks::HostCosts& host = machine.host;
  const auto needs_eager = [&](bool given, const char* key) {
    if (!given || host.eager > Bytes(0)) return;
    refuse(key, "no message is eager; give 'eager_bytes'");
  };
  needs_eager(host.eager_copy_per_word > Seconds(0) || machine.eager_copy_beyond_cache > Seconds(0),
              "machine/eager_copy_s_per_word");
  needs_eager(host.eager_per_word > Seconds(0), "machine/eager_s_per_word");
  needs_eager(host.fetch > Seconds(0), "machine/fetch_s");
  if (host.fetched_beyond > Bytes(0) && host.fetch == Seconds(0)) {
    refuse("machine/fetch_beyond_bytes", "fetching takes no time; give 'fetch_s'");
  }
  if (host.fetched_beyond > Bytes(0) && host.fetched_beyond >= host.eager) {
    refuse("machine/fetch_beyond_bytes", "no eager message is longer; leave it and 'fetch_s' out");
  }
  if (host.handshake && point.network == "alphabeta" && machine.latency == Seconds(0) &&
      host.latency == Seconds(0)) {
    refuse("machine/handshake",
           "it takes latencies, and there are none; give latency_s or host_latency_s");
  }
  needs_eager(host.destinations > 0, "machine/destinations");
  if (host.destinations_beyond > 0 && host.destinations == 0) {
    refuse("machine/destinations_beyond", "destinations are not limited; give 'destinations'");
  }
  needs_eager(host.buffered > Bytes(0), "machine/buffered_bytes");
  needs_eager(host.queued > Bytes(0), "machine/queued_bytes");
  needs_eager(host.inlined > Bytes(0), "machine/inline_bytes");
  try {
    networks::check_slow_links(point.links.slow_links);
  } catch (const InputError& error) {
    refuse("links/slow_links", error.what());
  }
  settle_stragglers(point, json, origin);
}

/// Refuses bits of values and indexes that the messages of a scheme would not have.
void check_precision(const Point& point, const algorithms::SchemeInfo& scheme,
                     const std::string& origin) {
  if (!scheme.own_format || point.space.precision == Precision{}) return;
  throw InputError(fmt::format(
      "{}: /gradient: the messages of {} have a format of their own; leave out 'value_bits' and "
      "'index_bits'",
      origin, scheme.name));
}

/// Refuses what only an allreduce has a meaning for.
void check_collective(const Point& point, const algorithms::SchemeInfo& scheme) {
  if (scheme.collective_kind == algorithms::Collective::allreduce) return;
  const char* needs = nullptr;
  if (!point.workload.model.empty()) needs = "a training with 'workload'";
  if (point.error_feedback) needs = "'error_feedback'";
  if (needs == nullptr) return;
  throw InputError(fmt::format("'{}' is of the collective {}; {} needs an allreduce", scheme.name,
                               name_of(scheme.collective_kind), needs));
}

}  // namespace

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

bool Machine::is_papers() const {
  return latency == Seconds(0) && host.overhead == Seconds(0) &&
         host.eager_copy_per_word == Seconds(0) && eager_copy_beyond_cache == Seconds(0) &&
         copy_per_word == Seconds(0) && copy_beyond_cache == Seconds(0) && !fresh.is_priced() &&
         host.eager == Bytes(0) && host.eager_per_word == Seconds(0) && host.fetch == Seconds(0) &&
         host.buffered == Bytes(0) && host.queued == Bytes(0) && host.inlined == Bytes(0) &&
         !host.handshake && host.handshake_time == Seconds(0) && host.latency == Seconds(0) &&
         call == Seconds(0) && host.one_way == Bytes(0) && host.gap_per_word == Seconds(0) &&
         host.noise == Seconds(0) && host.destinations == 0;
}

Point point_from(const Json& given, const std::string& origin) {
  check_point(given, origin);
  const auto named = [&](const char* key, auto find) {
    try {
      return find();
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: /{}: {}", origin, key, error.what()));
    }
  };
  Point point;
  point.network = given.value("network", point.network);
  named("network", [&] { return &find_network(point.network); });
  Json json = given;  // completed by the model
  const DefaultOptions of_model = settle_workload(json, point.network, origin);
  assign(point, json);
  const algorithms::SchemeInfo& scheme =
      *named("scheme", [&] { return &algorithms::find_scheme(point.scheme); });
  named("scheme", [&] {
    check_collective(point, scheme);
    return 0;
  });
  take_where_none_given(point, scheme, of_model);
  if (point.workload.model.empty() && point.iterations == 0) {
    throw InputError(fmt::format("{}: /iterations: 0 is for a workload; give 1 or more", origin));
  }
  settle_network(point, json, origin);
  named("platform",
        [&] { return point.platform.empty() ? "" : topologies::platform_file(point.platform); });
  named("placement", [&] {
    topologies::check_placement(point.placement);
    return 0;
  });
  double density = kDensity;
  if (point.input.trace.empty()) {
    density = settle_profile(point, json, scheme, origin);
  } else {
    settle_trace(point, json, origin);
  }
  named(("options: scheme " + point.scheme).c_str(), [&] {
    point.options = algorithms::Options(scheme.options, point.options).all();
    return 0;
  });
  settle_selection(point, json, scheme.dense, density, origin);
  check_representatives(point, scheme, origin);
  check_extrapolation(point, scheme, origin);
  check_precision(point, scheme, origin);
  return point;
}

void check_trace(const Point& point, const traces::TraceHeader& trace) {
  if (point.ranks > trace.ranks) {
    throw InputError(fmt::format("/ranks: {} are more than the {} of the trace {}", point.ranks,
                                 trace.ranks, point.input.trace));
  }
  if (point.space.components != trace.components) {
    throw InputError(fmt::format("/components: {}, but the trace {} has {}; leave it out",
                                 point.space.components, point.input.trace, trace.components));
  }
}

Json to_json(const Point& point) { return config_of(point); }

Json computation_of(const Point& point) {
  Json json = to_json(point);
  for (const char* where : {"network", "platform", "placement", "packets", "latency_factor",
                            "bandwidth_factor", "time_resolution_s", "flows_per_port", "machine",
                            "links", "record", "granule", "stragglers"}) {
    json.erase(where);
  }
  if (algorithms::find_scheme(point.scheme).dense) {
    for (const char* of_selection : {"k", "input", "seed", "iterations"}) json.erase(of_selection);
  }
  return json;
}

std::string what_is_read(const Point& point) {
  Json json = to_json(point);
  if (algorithms::find_scheme(point.scheme).dense) json.erase("k");
  return json.dump();
}

std::string key_of(const Point& point) {
  std::string all = version() + to_json(point).dump();
  if (version_is_uncertain()) all += hash_of_file(code_file());
  if (!point.platform.empty()) {
    all += read_text_if_any(topologies::platform_file(point.platform)) +
           read_text_if_any(point.placement);
  }
  if (!point.input.profile.empty())
    all += read_text_if_any(traces::profile_file(point.input.profile));
  if (!point.workload.model.empty()) {
    all += read_text_if_any(workloads::model_file(point.workload.model)) +
           read_text_if_any(workloads::device_file(point.workload.device));
  }
  if (!point.input.trace.empty()) all += hash_of_file(traces::trace_file(point.input.trace));
  return hash_of_text(all);
}

std::optional<std::string> restriction_of(const Point& point) {
  return algorithms::find_scheme(point.scheme).restriction(point.ranks, point.space.components);
}

}  // namespace thinwire::plan
