#include "sim/app/plan/request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/plan/config.hpp"

namespace thinwire::plan {

namespace {

/// Whether the config has every setting of a point, as the configs of rows do.
bool is_complete(const Json& given) {
  static const Json always = config_of(Point());
  return std::ranges::all_of(always.items(), [&](const auto& item) {
    return item.value().is_object() || given.contains(item.key());
  });
}

}  // namespace

Request::Request(Json values, Origin origin, std::string where)
    : values_(std::move(values)),
      first_(origin == Origin::config && values_.is_object() && is_complete(values_) ? Origin::row
                                                                                     : origin),
      where_(std::move(where)) {}

void Request::give(const std::string& path, const Json& value, Origin origin) {
  const char* const other = path == "k" ? "density" : path == "density" ? "k" : nullptr;
  if (other != nullptr && has(other) && origin_of(other) < origin) values_.erase(other);
  set_by_path(values_, path, value);
  later_[path] = origin;
}

void Request::complete(Json values) {
  for (const Setting& setting : point_settings()) {
    if (!has(setting.path) && find_by_path(values, setting.path) != nullptr) {
      later_[setting.path] = Origin::model;
    }
  }
  values_ = std::move(values);
}

const Json* Request::find(const std::string& path) const { return find_by_path(values_, path); }

Origin Request::origin_of(const std::string& path) const {
  if (later_.empty()) return first_;
  for (std::string at = path;; at.erase(at.rfind('.'))) {
    if (const auto found = later_.find(at); found != later_.end()) return found->second;
    if (at.find('.') == std::string::npos) return first_;
  }
}

}  // namespace thinwire::plan
