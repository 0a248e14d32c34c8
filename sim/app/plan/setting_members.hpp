// How the table in settings.cpp reads and writes the members of a point.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/settings.hpp"

namespace thinwire::plan {

// Conversion between a member and JSON.

inline constexpr std::array kFeedbacks{"none", "residual", "momentum"};  // as Feedback

template <class T>
[[nodiscard]] Json json_of(const T& value) {
  return value;
}
[[nodiscard]] Json json_of(const Seconds& value);
[[nodiscard]] Json json_of(const Bytes& value);
[[nodiscard]] Json json_of(const networks::LinkRouting& value);
[[nodiscard]] Json json_of(const traces::PopularityFamily& value);
[[nodiscard]] Json json_of(const algorithms::Feedback& value);

template <class T>
void take(const Json& json, T& value) {
  value = json.get<T>();
}
void take(const Json& json, Seconds& value);
void take(const Json& json, Bytes& value);
void take(const Json& json, networks::LinkRouting& value);
void take(const Json& json, traces::PopularityFamily& value);
void take(const Json& json, algorithms::Feedback& value);

[[nodiscard]] Json options_of(const Point& point);
void take_options(Point& point, const Json& value);

template <class T>
constexpr SettingKind kind_of() {
  if (std::is_same_v<T, bool>) return SettingKind::boolean;
  if (std::is_integral_v<T> || std::is_same_v<T, Bytes>) return SettingKind::integer;
  if (std::is_same_v<T, double> || std::is_same_v<T, Seconds>) return SettingKind::number;
  if (std::is_same_v<T, std::vector<std::int64_t>>) return SettingKind::integers;
  return SettingKind::text;
}

// The points to which a setting applies, so that it is written.

using When = bool (*)(const Point&);

[[nodiscard]] bool always(const Point& point);
[[nodiscard]] bool on_links(const Point& point);
[[nodiscard]] bool has_slow_links(const Point& point);
[[nodiscard]] bool has_representatives(const Point& point);
[[nodiscard]] bool extrapolates_chunks(const Point& point);
[[nodiscard]] bool has_slow_ranks(const Point& point);
[[nodiscard]] bool has_spread_ranks(const Point& point);
[[nodiscard]] bool has_local_steps(const Point& point);
[[nodiscard]] bool has_jitter(const Point& point);
[[nodiscard]] bool on_fair_links(const Point& point);
[[nodiscard]] bool with_overhead(const Point& point);
[[nodiscard]] bool copies_eager_beyond_cache(const Point& point);
[[nodiscard]] bool shakes_hands(const Point& point);
[[nodiscard]] bool limits_processes(const Point& point);
[[nodiscard]] bool has_cache(const Point& point);
[[nodiscard]] bool has_own_value_bits(const Point& point);
[[nodiscard]] bool has_own_index_bits(const Point& point);
[[nodiscard]] bool scales_latency(const Point& point);
[[nodiscard]] bool scales_bandwidth(const Point& point);
[[nodiscard]] bool without_platform(const Point& point);
[[nodiscard]] bool of_trace(const Point& point);
[[nodiscard]] bool of_profile(const Point& point);
[[nodiscard]] bool made_up(const Point& point);
[[nodiscard]] bool of_training(const Point& point);
/// Costs of hosts are written if they are set, on the networks that read them.
template <auto Member>
[[nodiscard]] bool costs_host(const Point& point) {
  const auto& value = point.machine.host.*Member;
  return on_fair_links(point) && value > std::remove_cvref_t<decltype(value)>(0);
}
template <auto Member>
[[nodiscard]] bool costs_machine(const Point& point) {
  return point.machine.*Member > Seconds(0);
}
template <auto Member>
[[nodiscard]] bool costs_fresh_memory(const Point& point) {
  const auto& value = point.machine.fresh.*Member;
  return value > std::remove_cvref_t<decltype(value)>(0);
}

/// Adds access to the member of a point that `member` returns; it is written if `when` holds.
template <class Member>
[[nodiscard]] Setting with(Setting setting, Member member, When when = always) {
  using Value = std::remove_cvref_t<decltype(member(std::declval<Point&>()))>;
  setting.kind = kind_of<Value>();
  setting.get = [member, when](const Point& point) {
    return when(point) ? std::optional<Json>(json_of(member(point))) : std::nullopt;
  };
  setting.set = [member](Point& point, const Json& value) { take(value, member(point)); };
  return setting;
}

/// Declares a member of a point: THINWIRE_MEMBER(machine.alpha).
#define THINWIRE_MEMBER(member) ([](auto& point) -> auto& { return point.member; })

}  // namespace thinwire::plan
