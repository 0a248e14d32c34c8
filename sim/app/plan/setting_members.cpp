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

Json json_of(const workloads::Parallel& value) { return text_of(value); }

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

void take(const Json& json, workloads::Parallel& value) {
  value = workloads::parallel_from(json.get<std::string>());
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

}  // namespace thinwire::plan
