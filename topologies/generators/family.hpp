// The families of platforms that Thinwire can generate.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "topologies/generators/racks.hpp"
#include "topologies/generators/settings.hpp"

namespace thinwire::topologies {

struct Family {
  std::string name;
  std::vector<std::string> also;  ///< other names that people look for
  std::string summary;
  std::vector<ParameterInfo> parameters;
  /// The parameter that "hosts" sets; it may not be given together with "hosts".
  std::string set_by_hosts;
  std::string (*xml)(const Settings&, const std::vector<std::string>& comment);
  /// Says what racks, a bandwidth and the like, by which every cluster can be described, are in the
  /// family's own parameters.
  void (*in_own_words)(CommonWords& words);
};

[[nodiscard]] const std::vector<Family>& all_families();
/// By its name or one of the others. Throws InputError with the nearest name.
[[nodiscard]] const Family& family(const std::string& name);

/// The XML of a platform. Its comment contains the command that generates it again and, unless
/// `notes` is empty, the lines of that file (the sources of the figures). Throws InputError for
/// parameters that the family lacks or that define no platform, and for notes that cannot be read.
[[nodiscard]] std::string make_platform(const Family& family,
                                        const std::map<std::string, std::string>& parameters,
                                        const std::string& notes = {});

}  // namespace thinwire::topologies
