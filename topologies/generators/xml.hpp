// The parts that all generated platforms share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/units.hpp"

namespace thinwire::topologies {

/// The bandwidth, in bytes per second, and the latency of one cable in one direction.
struct LinkFigures {
  double bandwidth = 0;
  Seconds latency;
};

/// The content before a generated platform's zones, and the properties of its outermost zone.
struct XmlHead {
  std::vector<std::string> comment;  ///< lines; "--" is written "- -", as XML requires
  std::string routing = "Full";      ///< of the outermost zone
  Seconds message_gap;
  /// Switches that sum: level and figures, see reducing.hpp.
  std::vector<std::pair<std::string, LinkFigures>> reducing = {};
  std::string topology = {};  ///< of switches and cables; see topologies/loading/wiring.hpp
  /// Prefixes of link names, and the figures of all such links; see platform.hpp.
  std::vector<std::pair<std::string, LinkFigures>> links;
};

/// A cluster of `hosts` hosts PREFIX0, PREFIX1, ... with full-duplex links to one switch.
[[nodiscard]] std::string cluster_xml(const std::string& id, const std::string& prefix,
                                      std::int64_t hosts, const LinkFigures& cable);

/// A full-duplex link, for a route to name.
[[nodiscard]] std::string duplex_link(const std::string& name, const LinkFigures& figures);

/// The figures of several cables side by side, as of one link.
[[nodiscard]] inline LinkFigures bundle(const LinkFigures& cable, int cables) {
  return {cable.bandwidth * cables, cable.latency};
}

/// A whole platform file. `body` is the content of the outermost zone.
[[nodiscard]] std::string platform_xml(const XmlHead& head, const std::string& body);

/// The speed of hosts; it has no effect because Thinwire charges computation itself.
inline constexpr const char* kHostSpeed = "1Gf";
/// The largest number of hosts that a generator accepts; SimGrid loads as many in seconds.
inline constexpr std::int64_t kMostHosts = 1 << 20;

}  // namespace thinwire::topologies
