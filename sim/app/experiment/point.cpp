#include "sim/app/experiment/point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"
#include "traces/shipped.hpp"

namespace thinwire::experiment {

namespace {

/// How many entries the ranks may hold together before coordinates stand for several components.
constexpr double kCarriedEntries = 1 << 25;
/// A region of a rank's selection should still hold some entries, so that regions can be balanced.
constexpr double kEntriesPerRegion = 4;

/// Keys of an input that is made up.
constexpr std::array kMadeUpKeys{"overlap", "skew", "drift", "tail", "scale_drift"};

/// Where neither the point nor a profile says one.
constexpr double kDensity = 0.01;

template <class T>
void take(const Json& json, const char* key, T& target) {
  if (json.contains(key)) target = json.at(key).get<T>();
}

void take(const Json& json, const char* key, Seconds& target) {
  if (json.contains(key)) target = Seconds(json.at(key).get<double>());
}

void take(const Json& json, const char* key, Bytes& target) {
  if (json.contains(key)) target = Bytes(json.at(key).get<std::int64_t>());
}

networks::LinksSettings links_from(const Json& json) {
  networks::LinksSettings links;
  take(json, "eager_bytes", links.eager);
  take(json, "fair_ports", links.fair_ports);
  take(json, "background_share", links.background_share);
  take(json, "background_flows", links.background_flows);
  std::string routing(networks::kLinkRoutings.front());
  take(json, "routing", routing);  // the schema has checked it
  const auto* const found = std::ranges::find(networks::kLinkRoutings, routing);
  links.routing = static_cast<networks::LinkRouting>(found - networks::kLinkRoutings.begin());
  return links;
}

Json to_json(const networks::LinksSettings& links) {
  return {{"eager_bytes", links.eager.value()},
          {"fair_ports", links.fair_ports},
          {"routing", networks::kLinkRoutings.at(static_cast<std::size_t>(links.routing))},
          {"background_share", links.background_share},
          {"background_flows", links.background_flows}};
}

algorithms::OptionValue option_from(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

std::int64_t power_of_two_below(double x) {
  return x < 2 ? 1 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(x)));
}

std::int64_t power_of_two_above(double x) {
  return x <= 1
             ? 1
             : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(x))));
}

/// The smallest power of two with which the coordinates can be counted in 32 bits.
std::int64_t granule_of_coordinates(const Point& point) {
  return power_of_two_above(static_cast<double>(point.space.components) /
                            static_cast<double>(UINT32_MAX));
}

/// The smallest power of two with which what all ranks hold fits, as long as a rank's selection
/// keeps some entries for each region.
std::int64_t automatic_granule(const Point& point, bool dense) {
  const auto held = static_cast<double>(dense ? point.space.components : point.k);
  std::int64_t granule = power_of_two_above(held * point.ranks / kCarriedEntries);
  if (!dense) {
    const double most = static_cast<double>(point.k) / (kEntriesPerRegion * point.ranks);
    granule = std::min(granule, power_of_two_below(most));
  }
  return std::max(granule, granule_of_coordinates(point));
}

/// Tensors fill the gradient, and each begins with a granule.
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

/// A profile and made up gradients have keys of their own; a profile brings its size. Gives the
/// density that holds where the point says none.
double settle_profile(Point& point, const Json& json, const std::string& origin) {
  const Json input = json.contains("input") ? json.at("input") : Json::object();
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  if (point.input.profile.empty()) {
    for (const char* key : {"family", "statistical", "start_up", "reach"}) {
      if (input.contains(key)) {
        refuse(fmt::format("input/{}", key), "is for a profile; give 'profile'");
      }
    }
    return kDensity;
  }
  for (const char* key : kMadeUpKeys) {
    if (input.contains(key)) {
      refuse(fmt::format("input/{}", key), "is for made up gradients; a profile has its own");
    }
  }
  if (point.error_feedback) {
    refuse("error_feedback", "a profile describes accumulators, which hold residuals already");
  }
  try {
    const std::string path = traces::profile_file(point.input.profile);
    // What was settled before may be read where the profile is not.
    if (json.contains("components") && (json.contains("k") || json.contains("density"))) {
      return kDensity;
    }
    const traces::Profile profile = traces::read_profile(path);
    if (!json.contains("components")) point.space.components = profile.components;
    return profile.density;
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
  take(json, "density", density);
  if (!recorded || json.contains("density")) {  // else k is the trace's
    point.k = std::llround(density * static_cast<double>(point.space.components));
  }
  take(json, "k", point.k);
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
  if (point.space.coordinates() > static_cast<std::int64_t>(UINT32_MAX)) {
    throw InputError(fmt::format("{}: /granule: {} components need a granule of {} at least",
                                 origin, point.space.components,
                                 power_of_two_above(static_cast<double>(point.space.components) /
                                                    static_cast<double>(UINT32_MAX))));
  }
  settle_tensors(point, !json.contains("granule") || json.at("granule").is_string(), origin);
  point.k -= point.k % point.space.granule;
}

void require_finite(const Json& json, const std::string& where, const std::string& origin) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    throw InputError(
        fmt::format("{}: {}: {} is not a finite number", origin, where, json.get<double>()));
  }
  if (!json.is_object()) return;
  for (const auto& item : json.items()) {
    require_finite(item.value(), where + "/" + item.key(), origin);
  }
}

/// A model brings the size of its gradient, its density and its profile, where the point has none.
void settle_workload(Point& point, Json& json, const std::string& origin) {
  if (!json.contains("workload")) return;
  const Json given = json.at("workload");
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw InputError(fmt::format("{}: /{}: {}", origin, key, why));
  };
  if (!given.contains("model")) refuse("workload", "the key 'model' is missing");
  point.workload.model = given.at("model").get<std::string>();
  take(given, "batch", point.workload.batch);
  take(given, "staging", point.workload.staging);
  if (!find_network(point.network).has_clock) {
    refuse("network", fmt::format("{} has no clock, and a training takes time", point.network));
  }
  if (json.contains("machine") && json.at("machine").value("gamma_s_per_word", 0.0) > 0) {
    refuse("machine/gamma_s_per_word", "in a training the device says what sums cost");
  }
  if (!json.contains("iterations")) point.iterations = 0;
  if (point.error_feedback && point.iterations == 0) {
    refuse("error_feedback", "kinds of iterations do not follow one another; give 'iterations'");
  }
  // What was settled before may be read where the model is not.
  const bool settled = json.contains("components") && json.contains("k") &&
                       json.contains("input") && given.contains("device");
  if (settled) {
    point.workload.device = given.at("device").get<std::string>();
    return;
  }
  workloads::Model model;
  try {
    model = workloads::read_model(workloads::model_file(point.workload.model));
  } catch (const InputError& error) {
    refuse("workload/model", error.what());
  }
  if (model.compute.empty()) refuse("workload/model", "it has no computing time on any device");
  point.workload.device = given.value("device", model.compute.front().device);
  try {
    static_cast<void>(workloads::compute_on(
        model, workloads::read_device(workloads::device_file(point.workload.device)).name));
  } catch (const InputError& error) {
    refuse("workload/device", error.what());
  }
  Json input = json.contains("input") ? json.at("input") : Json{{"statistical", true}};
  const bool recorded = input.contains("trace");
  if (!json.contains("components")) json["components"] = model.components;
  if (json.at("components") != model.components) {
    refuse("components", fmt::format("the model {} has {}", model.name, model.components));
  }
  point.space.components = model.components;
  const bool made_up =
      std::ranges::any_of(kMadeUpKeys, [&](const char* key) { return input.contains(key); });
  if (!recorded && !made_up && !input.contains("profile")) input["profile"] = model.profile;
  json["input"] = input;
  if (!recorded && !json.contains("k") && !json.contains("density")) {
    json["density"] = model.density;
  }
}

/// What a recorded trace says is not to be said otherwise: n, and k unless it is given.
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
  // What was settled before may be read where the trace is not.
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

/// Network, platform and machine have to go together.
void settle_network(Point& point, const Json& json, const std::string& origin) {
  const NetworkInfo network = find_network(point.network);
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
  if (point.network != "smpi") {
    const auto smpi_alone = [&](bool given, const char* key, const char* what) {
      if (given) {
        refuse(key, fmt::format("the network {} knows no {}; smpi does", point.network, what));
      }
    };
    smpi_alone(point.packets, "packets", "packets");
    smpi_alone(point.flows_per_port > 0, "flows_per_port", "flows");
    smpi_alone(point.time_resolution > Seconds(0), "time_resolution_s", "resolution of time");
  }
  if (!network.congests && point.record.links) {
    refuse("record/links",
           fmt::format("the network {} knows no links; links and smpi do", point.network));
  }
  if (point.network != "links" && json.contains("links")) {
    refuse("links", fmt::format("the network {} does not read it; links does", point.network));
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
  if (point.platform.empty()) return;
  for (const char* key : {"alpha_s", "beta_s_per_word", "latency_s", "overhead_s"}) {
    if (json.contains("machine") && json.at("machine").contains(key)) {
      refuse("machine", fmt::format("'{}' comes from the platform; leave one of them out", key));
    }
  }
}

}  // namespace

Point point_from(const Json& given, const std::string& origin) {
  require_finite(given, "", origin);
  check_point(given, origin);
  Json json = given;  // with what a model brings
  Point point;
  take(json, "scheme", point.scheme);
  take(json, "network", point.network);
  take(json, "platform", point.platform);
  take(json, "placement", point.placement);
  take(json, "packets", point.packets);
  take(json, "time_resolution_s", point.time_resolution);
  take(json, "flows_per_port", point.flows_per_port);
  if (json.contains("links")) point.links = links_from(json.at("links"));
  if (json.contains("record")) {
    take(json.at("record"), "links", point.record.links);
    take(json.at("record"), "ranks", point.record.ranks);
  }
  take(json, "ranks", point.ranks);
  take(json, "components", point.space.components);
  take(json, "tensors", point.tensors);
  take(json, "iterations", point.iterations);
  take(json, "error_feedback", point.error_feedback);
  take(json, "seed", point.seed);
  const auto named = [&](const char* key, auto find) {
    try {
      return find();
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: /{}: {}", origin, key, error.what()));
    }
  };
  const algorithms::SchemeInfo scheme =
      named("scheme", [&] { return algorithms::find_scheme(point.scheme); });
  named("network", [&] { return find_network(point.network); });
  settle_workload(point, json, origin);
  if (point.workload.model.empty() && point.iterations == 0) {
    throw InputError(fmt::format("{}: /iterations: 0 is for a workload; give 1 or more", origin));
  }
  if (json.contains("machine")) {
    const Json& machine = json.at("machine");
    take(machine, "alpha_s", point.machine.alpha);
    take(machine, "beta_s_per_word", point.machine.beta_per_word);
    take(machine, "gamma_s_per_word", point.machine.gamma_per_word);
    take(machine, "latency_s", point.machine.latency);
    take(machine, "overhead_s", point.machine.overhead);
  }
  if (json.contains("input")) {
    const Json& input = json.at("input");
    take(input, "trace", point.input.trace);
    take(input, "profile", point.input.profile);
    if (input.contains("family")) {
      point.input.family = input.at("family") == "beta" ? traces::PopularityFamily::beta
                                                        : traces::PopularityFamily::copula;
    }
    take(input, "statistical", point.input.statistical);
    take(input, "start_up", point.input.start_up);
    take(input, "reach", point.input.reach);
    take(input, "overlap", point.input.overlap);
    take(input, "skew", point.input.skew);
    take(input, "drift", point.input.drift);
    take(input, "tail", point.input.tail);
    take(input, "scale_drift", point.input.scale_drift);
  }
  settle_network(point, json, origin);
  named("platform",
        [&] { return point.platform.empty() ? "" : topologies::platform_file(point.platform); });
  named("placement", [&] {
    topologies::check_placement(point.placement);
    return 0;
  });
  named(("options: scheme " + point.scheme).c_str(), [&] {
    if (json.contains("options")) {
      for (const auto& item : json.at("options").items()) {
        point.options[item.key()] = option_from(item.value());
      }
    }
    point.options = algorithms::Options(scheme.options, point.options).all();
    return 0;
  });
  double density = kDensity;
  if (point.input.trace.empty()) {
    density = settle_profile(point, json, origin);
  } else {
    settle_trace(point, json, origin);
  }
  settle_selection(point, json, scheme.dense, density, origin);
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

namespace {

Json to_json(const Input& input) {
  if (!input.trace.empty()) return {{"trace", input.trace}};
  if (!input.profile.empty()) {
    return {{"profile", input.profile},
            {"family", input.family == traces::PopularityFamily::beta ? "beta" : "copula"},
            {"statistical", input.statistical},
            {"start_up", input.start_up},
            {"reach", input.reach}};
  }
  return {{"overlap", input.overlap},
          {"skew", input.skew},
          {"drift", input.drift},
          {"tail", input.tail},
          {"scale_drift", input.scale_drift}};
}

}  // namespace

Json to_json(const Point& point) {
  Json options = Json::object();
  for (const auto& [name, value] : point.options) {
    std::visit([&, &key = name](auto v) { options[key] = v; }, value);
  }
  Json machine = {{"gamma_s_per_word", point.machine.gamma_per_word.value()}};
  if (point.platform.empty()) {  // else it says the rest
    machine["alpha_s"] = point.machine.alpha.value();
    machine["beta_s_per_word"] = point.machine.beta_per_word.value();
    machine["latency_s"] = point.machine.latency.value();
    machine["overhead_s"] = point.machine.overhead.value();
  }
  Json json = {{"scheme", point.scheme},
               {"options", options},
               {"network", point.network},
               {"platform", point.platform},
               {"placement", point.placement},
               {"packets", point.packets},
               {"time_resolution_s", point.time_resolution.value()},
               {"flows_per_port", point.flows_per_port},
               {"machine", machine},
               {"record", {{"links", point.record.links}, {"ranks", point.record.ranks}}},
               {"ranks", point.ranks},
               {"components", point.space.components},
               {"tensors", point.tensors},
               {"k", point.k},
               {"granule", point.space.granule},
               {"iterations", point.iterations},
               {"error_feedback", point.error_feedback},
               {"seed", point.seed},
               {"input", to_json(point.input)}};
  if (point.network == "links") json["links"] = to_json(point.links);
  const Workload& workload = point.workload;
  if (!workload.model.empty()) {
    json["workload"] = {{"model", workload.model},
                        {"device", workload.device},
                        {"batch", workload.batch},
                        {"staging", workload.staging}};
  }
  return json;
}

std::string key_of(const Point& point) {
  std::string all = version() + to_json(point).dump();
  if (version_is_uncertain()) all += hash_of_file("/proc/self/exe");
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

}  // namespace thinwire::experiment
