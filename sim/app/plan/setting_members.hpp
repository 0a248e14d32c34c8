// How the table in settings.cpp reads and writes the members of a point.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

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
template <class Info, const Info& (*find)(std::string_view)>
[[nodiscard]] Json json_of(const Entry<Info, find>& value) {
  return value->name;
}
[[nodiscard]] Json json_of(const workloads::Parallel& value);

template <class T>
void take(const Json& json, T& value) {
  value = json.get<T>();
}
void take(const Json& json, Seconds& value);
void take(const Json& json, Bytes& value);
void take(const Json& json, networks::LinkRouting& value);
void take(const Json& json, traces::PopularityFamily& value);
void take(const Json& json, algorithms::Feedback& value);
template <class Info, const Info& (*find)(std::string_view)>
void take(const Json& json, Entry<Info, find>& value) {
  value = json.get_ref<const std::string&>();
}
/// Throws InputError.
void take(const Json& json, workloads::Parallel& value);

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

/// The points that have a setting in their JSON.
enum class Written : std::uint8_t {
  always,
  if_set,          ///< to another value than the default
  if_read,         ///< by the network, the model and the input of the point
  if_read_and_set  ///< both
};

/// Adds access to the member of a point that `member` returns; `when` says for which points it is
/// written.
template <class Member, class When>
[[nodiscard]] Setting with_member(Setting setting, Member member, When when) {
  using Value = std::remove_cvref_t<decltype(member(std::declval<Point&>()))>;
  setting.kind = kind_of<Value>();
  setting.get = [member, when](const Point& point) {
    return when(point) ? std::optional<Json>(json_of(member(point))) : std::nullopt;
  };
  setting.set = [member](Point& point, const Json& value) { take(value, member(point)); };
  return setting;
}

template <class Member>
[[nodiscard]] Setting with(Setting setting, Member member, bool (*when)(const Point& point)) {
  return with_member(std::move(setting), member, when);
}

template <class Member>
[[nodiscard]] Setting with(Setting setting, Member member, Written written = Written::always) {
  const bool if_read = written == Written::if_read || written == Written::if_read_and_set;
  const bool if_set = written == Written::if_set || written == Written::if_read_and_set;
  const auto when = [=, networks = setting.networks, when = setting.when](const Point& point) {
    static const Point standard;
    if (if_read && !has_place_for(networks, when, point)) return false;
    return !if_set || member(point) != member(standard);
  };
  return with_member(std::move(setting), member, when);
}

/// Declares a member of a point: THINWIRE_MEMBER(machine.alpha).
#define THINWIRE_MEMBER(member) ([](auto& point) -> auto& { return point.member; })

}  // namespace thinwire::plan
