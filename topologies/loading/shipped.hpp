// The platforms that come with Thinwire, which need no path: aries_daint is
// platforms/aries_daint.xml.
#pragma once

#include <string>
#include <vector>

namespace thinwire::topologies {

/// Names of the shipped platforms, sorted.
[[nodiscard]] std::vector<std::string> shipped_platforms();

/// The path of a platform: a text with a '/' or that ends in ".xml" is a path and comes back as it
/// is, any other is the name of a shipped platform. Throws InputError with the nearest name.
[[nodiscard]] std::string platform_file(const std::string& name_or_path);

}  // namespace thinwire::topologies
