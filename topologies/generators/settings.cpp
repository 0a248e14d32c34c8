#include "topologies/generators/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantity.hpp"
#include "sim/core/base/split.hpp"
#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

Settings::Settings(std::string family, const std::vector<ParameterInfo>& known,
                   const std::map<std::string, std::string>& given)
    : family_(std::move(family)) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : known) {
    names.push_back(parameter.name);
    const auto set = given.find(parameter.name);
    values_.emplace_back(parameter.name, set == given.end() ? parameter.fallback : set->second);
    if (values_.back().second != parameter.fallback) given_.push_back(parameter.name);
  }
  for (const auto& [name, value] : given) {
    if (std::ranges::find(names, name) == names.end()) {
      throw InputError("{}: unknown parameter '{}'{}", family_, excerpt(name),
                       did_you_mean(name, names));
    }
  }
}

const std::string& Settings::text(const std::string& name) const {
  return std::ranges::find(values_, name, &std::pair<std::string, std::string>::first)->second;
}

std::string Settings::refusal(const std::string& name, const std::string& wanted) const {
  return fmt::format("{}: {}: '{}' is not valid; expected {}", family_, name, text(name), wanted);
}

void Settings::refuse_given(const std::string& prefix, const char* none) const {
  for (const std::string& name : given_) {
    if (!name.starts_with(prefix)) continue;
    throw InputError("{}: {}: {}; leave it out", family_, name, none);
  }
}

int Settings::whole(const std::string& name, int least) const {
  const std::optional<std::int64_t> value = parse_whole(text(name));
  if (!value || *value < least || *value > kMostHosts) {
    throw InputError(refusal(name, fmt::format("a whole number from {} to {}", least, kMostHosts)));
  }
  return static_cast<int>(*value);
}

bool Settings::flag(const std::string& name) const {
  if (text(name) != "0" && text(name) != "1") throw InputError(refusal(name, "0 or 1"));
  return text(name) == "1";
}

std::optional<int> Settings::optional_whole(const std::string& name) const {
  if (text(name).empty()) return std::nullopt;
  return whole(name);
}

std::vector<int> Settings::wholes(const std::string& name) const {
  std::vector<int> values;
  for (const std::string& part : split(text(name))) {
    const std::optional<std::int64_t> value = parse_whole(part);
    if (!value || *value < 1 || *value > kMostHosts) {
      throw InputError(refusal(name, "whole numbers from 1 with commas between, as in 16,16"));
    }
    values.push_back(static_cast<int>(*value));
  }
  return values;
}

std::vector<double> Settings::numbers(const std::string& name, double least) const {
  std::vector<double> values;
  for (const std::string& part : split(text(name))) {
    const std::optional<double> value = parse_quantity(part);
    if (!value || !std::isfinite(*value) || *value < least) {
      throw InputError(
          refusal(name, fmt::format("numbers from {} with commas between, as in 2,1", least)));
    }
    values.push_back(*value);
  }
  return values;
}

double Settings::bandwidth(const std::string& name) const {
  return parse_bandwidth(text(name), family_ + ": " + name);
}

Seconds Settings::time(const std::string& name) const {
  return parse_time(text(name), family_ + ": " + name);
}

double Settings::above_0(const std::string& name) const {
  const std::vector<double> values = numbers(name, 0);
  if (values.size() != 1) throw InputError(refusal(name, "one number above 0"));
  if (values.front() > 0) return values.front();
  throw InputError("{}: {} {} is not above 0", family_, name, values.front());
}

LinkFigures Settings::figures(const std::string& prefix) const {
  return {bandwidth(prefix + "bandwidth"), time(prefix + "latency")};
}

int Settings::parts(const std::string& name, std::int64_t size) const {
  const std::optional<int> hosts = optional_whole("hosts");
  return hosts ? static_cast<int>((*hosts + size - 1) / size) : whole(name);
}

std::int64_t Settings::hosts(int parts, const char* name, std::int64_t size) const {
  if (size <= kMostHosts && size * parts <= kMostHosts) return size * parts;
  throw InputError("{}: {} {} of {} hosts are more than the {} of a platform", family_, parts, name,
                   size, kMostHosts);
}

}  // namespace thinwire::topologies
