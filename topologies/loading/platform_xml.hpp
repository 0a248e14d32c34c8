// What the XML of a platform holds, read before SimGrid reads it: SimGrid obeys a file that configures
// it, opens other files or starts actors, and builds as many hosts as a file names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thinwire::topologies {

inline constexpr std::string_view kTopologyProperty = "thinwire.topology";
inline constexpr std::string_view kGapProperty = "thinwire.message_gap";
inline constexpr std::string_view kPacketProperty = "thinwire.packet";
inline constexpr std::string_view kStoredProperty = "thinwire.stored";

/// A configuration that changes no message's time, which SimGrid does not see.
struct PassedOver {
  std::string key;
  std::size_t begin = 0;  ///< of its element in the file, in bytes
  std::size_t end = 0;
};

struct PlatformXml {
  bool bypasses = false;         ///< routes around the routing, which SimGrid does not tell of
  bool distances = false;        ///< Vivaldi zones: routes take longer than their links
  bool dragonflies = false;      ///< clusters of that topology, or a thinwire.topology (wiring.hpp)
  int fat_trees = 0;             ///< clusters of that topology
  bool has_message_gap = false;  ///< thinwire.message_gap of the outermost zone, also of 0
  std::int64_t hosts = 0;
  std::string topology;  ///< thinwire.topology of the outermost zone
  std::vector<PassedOver> passed_over;

  /// "the configuration smpi/host-speed, tracing is passed over: ...", or empty.
  [[nodiscard]] std::string note() const;
  /// What is wrong without a message gap, and what to do about it; empty if there is one.
  [[nodiscard]] std::string gap_note() const;
};

/// Takes what SimGrid takes, also where it is no XML: a declaration behind blanks or comments, "--" in
/// comments, any encoding that extends ASCII. Throws InputError naming the file, the line and the reason
/// where the text is not well-formed, holds what may do harm or what no network follows, or is too large
/// to be built in the memory that there is.
[[nodiscard]] PlatformXml read_platform_xml(const std::string& path);
/// The same of the text of a file.
[[nodiscard]] PlatformXml platform_xml_from(std::string text, const std::string& path);

}  // namespace thinwire::topologies
