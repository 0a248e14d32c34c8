#include "sim/app/plan/setting_members.hpp"

#include <algorithm>
#include <variant>

namespace thinwire::plan {

namespace {

algorithms::OptionValue option_from(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

}  // namespace

Json json_of(const Seconds& value) { return value.value(); }
Json json_of(const Bytes& value) { return value.value(); }
Json json_of(const networks::LinkRouting& value) {
  return networks::kLinkRoutings.at(static_cast<std::size_t>(value));
}
Json json_of(const traces::PopularityFamily& value) {
  return value == traces::PopularityFamily::beta ? "beta" : "copula";
}
Json json_of(const algorithms::Feedback& value) {
  return kFeedbacks.at(static_cast<std::size_t>(value));
}

void take(const Json& json, Seconds& value) { value = Seconds(json.get<double>()); }
void take(const Json& json, Bytes& value) { value = Bytes(json.get<std::int64_t>()); }
void take(const Json& json, networks::LinkRouting& value) {
  const auto* const found = std::ranges::find(networks::kLinkRoutings, json.get<std::string>());
  value = static_cast<networks::LinkRouting>(found - networks::kLinkRoutings.begin());
}
void take(const Json& json, algorithms::Feedback& value) {
  const auto* const found = std::ranges::find(kFeedbacks, json.get<std::string>());
  value = static_cast<algorithms::Feedback>(found - kFeedbacks.begin());
}
void take(const Json& json, traces::PopularityFamily& value) {
  value = json == "beta" ? traces::PopularityFamily::beta : traces::PopularityFamily::copula;
}

Json options_of(const Point& point) {
  Json options = Json::object();
  for (const auto& [name, value] : point.options) {
    std::visit([&, &key = name](auto v) { options[key] = v; }, value);
  }
  return options;
}

void take_options(Point& point, const Json& value) {
  for (const auto& item : value.items()) point.options[item.key()] = option_from(item.value());
}

bool always(const Point& /*point*/) { return true; }
bool on_links(const Point& point) { return point.network == "links"; }
bool has_slow_links(const Point& point) {
  return on_links(point) && !point.links.slow_links.empty();
}
bool has_representatives(const Point& point) { return point.representatives > 0; }
bool extrapolates_chunks(const Point& point) { return point.extrapolate_chunks > 0; }
bool has_slow_ranks(const Point& point) { return point.stragglers.ranks > 0; }
bool has_spread_ranks(const Point& point) { return point.stragglers.spread > 0; }
bool has_local_steps(const Point& point) {
  return !point.workload.model.empty() && point.workload.local_steps > 1;
}
bool has_jitter(const Point& point) { return point.stragglers.jitter > 0; }
bool on_fair_links(const Point& point) { return on_links(point) || point.network == "alphabeta"; }
bool with_overhead(const Point& point) {
  return on_fair_links(point) &&
         (point.platform.empty() || point.machine.host.overhead > Seconds(0));
}
bool copies_eager_beyond_cache(const Point& point) {
  return on_fair_links(point) && point.machine.eager_copy_beyond_cache > Seconds(0);
}
bool shakes_hands(const Point& point) {
  return on_fair_links(point) && point.machine.host.handshake;
}
bool limits_processes(const Point& point) {
  return on_links(point) && point.machine.host.gap_per_word > Seconds(0);
}
bool has_cache(const Point& point) { return point.machine.cache > Bytes(0); }
bool has_own_value_bits(const Point& point) { return point.space.precision.value_bits != 32; }
bool has_own_index_bits(const Point& point) { return point.space.precision.index_bits != 32; }
bool scales_latency(const Point& point) { return point.latency_factor != 1; }
bool scales_bandwidth(const Point& point) { return point.bandwidth_factor != 1; }
bool without_platform(const Point& point) { return point.platform.empty(); }
bool of_trace(const Point& point) { return !point.input.trace.empty(); }
bool of_profile(const Point& point) { return !of_trace(point) && !point.input.profile.empty(); }
bool made_up(const Point& point) { return !of_trace(point) && !of_profile(point); }
bool of_training(const Point& point) { return !point.workload.model.empty(); }

}  // namespace thinwire::plan
