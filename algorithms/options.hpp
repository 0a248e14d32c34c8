// The options of a scheme, in addition to the parameters that all schemes share.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace thinwire::algorithms {

using OptionValue = std::variant<bool, std::int64_t, double>;

struct OptionUse;

/// An option: its name, default and range.
struct OptionInfo {
  std::string name;
  OptionValue fallback;
  double minimum;  ///< smallest number allowed
  std::string help;
  std::vector<std::int64_t> choices = {};                    ///< integers allowed; empty: any
  double maximum = std::numeric_limits<double>::infinity();  ///< largest number allowed
  /// Why the option changes nothing in a run, and what to do about it; empty: it can change it.
  std::function<std::string(const OptionUse&)> idle = {};
  std::string sparsifier =
      {};  ///< whose option it is in a composed scheme; empty: the collective's
};

/// Whether one of `options` has this name.
[[nodiscard]] bool has_option(const std::vector<OptionInfo>& options, std::string_view name);

/// Option values by name. Options that the user did not set have their defaults.
class Options {
 public:
  Options() = default;
  /// Throws InputError naming an option that is not in `known`, or a value of the wrong type or
  /// range.
  Options(const std::vector<OptionInfo>& known, const std::map<std::string, OptionValue>& given);

  [[nodiscard]] bool flag(const std::string& name) const {
    return std::get<bool>(values_.at(name));
  }
  [[nodiscard]] std::int64_t integer(const std::string& name) const {
    return std::get<std::int64_t>(values_.at(name));
  }
  [[nodiscard]] double number(const std::string& name) const {
    return std::get<double>(values_.at(name));
  }
  [[nodiscard]] const std::map<std::string, OptionValue>& all() const { return values_; }

 private:
  std::map<std::string, OptionValue> values_;
};

/// A run, as far as it decides whether an option can change it.
struct OptionUse {
  const Options& options;
  int ranks = 1;
  std::int64_t n = 0;     ///< components
  bool values = true;     ///< a result depends on the values of gradients
  bool start_up = false;  ///< iterations are the first ones of a training
};

/// The option, which says nothing unless the option `flag` is true.
[[nodiscard]] OptionInfo only_with(const std::string& flag, OptionInfo option);

}  // namespace thinwire::algorithms
