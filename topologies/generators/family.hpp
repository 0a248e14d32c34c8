// The families of platforms that Thinwire can make.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"

namespace thinwire::topologies {

struct Family {
  std::string name;
  std::string summary;
  std::vector<ParameterInfo> parameters;
  /// The parameter that "hosts" sets when it is given, and that may not be given beside it.
  std::string set_by_hosts;
  std::string (*xml)(const Settings&, const std::vector<std::string>& comment);
};

[[nodiscard]] const std::vector<Family>& all_families();
/// Throws InputError with the nearest name.
[[nodiscard]] const Family& family(const std::string& name);

/// The XML of a platform. Its comment holds the command that makes it again and, where `notes` is
/// not empty, the lines of that file (what the figures are from). Throws InputError for parameters
/// that the family does not have or that make no platform, and for notes that cannot be read.
[[nodiscard]] std::string make_platform(const Family& family,
                                        const std::map<std::string, std::string>& parameters,
                                        const std::string& notes = {});

}  // namespace thinwire::topologies
