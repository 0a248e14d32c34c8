// What the XML of a platform holds, read before SimGrid reads it: SimGrid obeys a file that configures
// it, opens other files or starts actors, and builds as many hosts as a file names.
#pragma once

#include <string>

namespace thinwire::topologies {

struct PlatformXml {
  bool bypasses = false;     ///< ways around the routing, which SimGrid does not tell of
  bool distances = false;    ///< Vivaldi zones: routes take longer than their links
  bool dragonflies = false;  ///< clusters of that topology, as the next
  bool fat_trees = false;
};

/// Throws InputError naming the file, the line and the reason where it is not well-formed, holds what
/// may do harm or what no network follows, or is too large to be built.
[[nodiscard]] PlatformXml read_platform_xml(const std::string& path);

}  // namespace thinwire::topologies
