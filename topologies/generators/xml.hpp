// The parts that every generated platform has.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/units.hpp"

namespace thinwire::topologies {

/// Bandwidth in bytes a second, and latency, of one cable and one direction.
struct LinkFigures {
  double bandwidth = 0;
  Seconds latency;
};

/// What stands above a generated platform's zones, and on its outermost zone.
struct XmlHead {
  std::vector<std::string> comment;  ///< lines; "--" in them is written "- -", as XML wants it
  std::string routing = "Full";      ///< of the outermost zone
  Seconds message_gap;
  /// Prefix of link names, and figures of all links with it; see platform.hpp.
  std::vector<std::pair<std::string, LinkFigures>> links;
};

/// A whole platform file. `body` holds what is inside the outermost zone.
[[nodiscard]] std::string platform_xml(const XmlHead& head, const std::string& body);

/// Hosts with nothing that computes: Thinwire charges work itself.
inline constexpr const char* kHostSpeed = "1Gf";
/// What a generator makes at most; SimGrid takes seconds to load as many.
inline constexpr std::int64_t kMostHosts = 1 << 20;

}  // namespace thinwire::topologies
