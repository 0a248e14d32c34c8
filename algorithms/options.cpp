#include "algorithms/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::algorithms {

namespace {

std::string type_name(const OptionValue& value) {
  if (std::holds_alternative<bool>(value)) return "true or false";
  return std::holds_alternative<std::int64_t>(value) ? "a whole number" : "a number";
}

/// Nothing of a truth value.
std::optional<double> number_of(const OptionValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

/// `value` converted to the type of the option; an integer is accepted for a floating-point number.
OptionValue converted(const OptionInfo& info, const OptionValue& value) {
  OptionValue result = value;
  if (std::holds_alternative<double>(info.fallback) &&
      std::holds_alternative<std::int64_t>(value)) {
    result = static_cast<double>(std::get<std::int64_t>(value));
  }
  if (result.index() != info.fallback.index()) {
    throw InputError("option '{}' must be {}{}", info.name, type_name(info.fallback),
                     info.sparsifier.empty() ? "" : fmt::format(": it is {}'s", info.sparsifier));
  }
  const std::optional<double> number = number_of(result);
  if (number && !(*number >= info.minimum)) {
    throw InputError("option '{}' must be at least {}", info.name, info.minimum);
  }
  if (number && *number > info.maximum) {
    throw InputError("option '{}' must be at most {}", info.name, info.maximum);
  }
  if (!info.choices.empty() &&
      std::ranges::find(info.choices, std::get<std::int64_t>(result)) == info.choices.end()) {
    throw InputError("option '{}' must be one of {}", info.name, fmt::join(info.choices, ", "));
  }
  return result;
}

}  // namespace

bool has_option(const std::vector<OptionInfo>& options, std::string_view name) {
  return std::ranges::find(options, name, &OptionInfo::name) != options.end();
}

Options::Options(const std::vector<OptionInfo>& known,
                 const std::map<std::string, OptionValue>& given) {
  std::vector<std::string> names;
  for (const OptionInfo& info : known) {
    names.push_back(info.name);
    values_[info.name] = info.fallback;
  }
  for (const auto& [name, value] : given) {
    const auto info = std::ranges::find(known, name, &OptionInfo::name);
    if (info == known.end()) {
      throw InputError("unknown option '{}'{}", excerpt(name), did_you_mean(name, names));
    }
    values_[name] = converted(*info, value);
  }
}

OptionInfo only_with(const std::string& flag, OptionInfo option) {
  option.idle = [flag](const OptionUse& use) -> std::string {
    if (use.options.flag(flag)) return {};
    return fmt::format("{0} is false; set options.{0}=true, or leave it out", flag);
  };
  return option;
}

}  // namespace thinwire::algorithms
