// The user's settings of a generator: texts by name, read with their defaults.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

/// A parameter of a family: its name, its default and its description.
struct ParameterInfo {
  std::string name;
  std::string fallback;
  std::string help;
};

/// The parameters of one platform. Every read throws InputError that names the family, the
/// parameter, the text and what would be valid.
class Settings {
 public:
  /// Throws InputError for a name that the family lacks, with its nearest name.
  Settings(std::string family, const std::vector<ParameterInfo>& known,
           const std::map<std::string, std::string>& given);

  /// All settings in the order of the family's parameters, including defaults.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const {
    return values_;
  }

  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] int whole(const std::string& name, int least = 1) const;
  /// "0" or "1".
  [[nodiscard]] bool flag(const std::string& name) const;
  /// The number, or nothing if the text is empty.
  [[nodiscard]] std::optional<int> optional_whole(const std::string& name) const;
  /// "16,16,4".
  [[nodiscard]] std::vector<int> wholes(const std::string& name) const;
  [[nodiscard]] std::vector<double> numbers(const std::string& name, double least) const;
  [[nodiscard]] double bandwidth(const std::string& name) const;
  [[nodiscard]] Seconds time(const std::string& name) const;

  /// One number above 0.
  [[nodiscard]] double above_0(const std::string& name) const;
  /// The parameters PREFIXbandwidth and PREFIXlatency.
  [[nodiscard]] LinkFigures figures(const std::string& prefix) const;
  /// The parameter `name`, a number of parts of a platform, each of `size` hosts. If "hosts" is
  /// given, the smallest number that holds these.
  [[nodiscard]] int parts(const std::string& name, std::int64_t size) const;
  /// The hosts of all parts. Throws InputError if they are more than kMostHosts.
  [[nodiscard]] std::int64_t hosts(int parts, const char* name, std::int64_t size) const;

  /// Refuses parameters that begin with `prefix`, of what the platform has none of, unless they have
  /// their defaults. `none` is as in "one group has no blue links".
  void refuse_given(const std::string& prefix, const char* none) const;

  /// The text of an InputError: "FAMILY: NAME: 'TEXT' is not valid; expected WANTED".
  [[nodiscard]] std::string refusal(const std::string& name, const std::string& wanted) const;

 private:
  std::string family_;
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> given_;  ///< the names of those that differ from their defaults
};

}  // namespace thinwire::topologies
