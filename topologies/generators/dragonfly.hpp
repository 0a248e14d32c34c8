// A dragonfly like that of Cray's XC (Aries): groups of chassis of routers of nodes. Green links
// connect all routers of a chassis, black links the routers at the same position in any two chassis
// of a group, and blue links any two groups. The blue cables of two groups are links of their own
// and end on many routers: topologies/loading/wiring.hpp. With one chassis a group, the switches of
// a group are connected all to all, as with Slingshot.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct DragonflyParameters {
  int groups = 14;
  int chassis = 6;       ///< per group
  int routers = 16;      ///< per chassis
  int nodes = 4;         ///< per router
  int green_cables = 1;  ///< between two routers of a chassis; their bandwidths add up
  int black_cables = 3;  ///< between two routers at the same position
  int blue_cables = 73;  ///< between two groups, each a link of its own
  LinkFigures host{10.2e9, Seconds(0.5e-6)};
  LinkFigures green{5.25e9, Seconds(100e-9)};
  LinkFigures black{5.25e9, Seconds(100e-9)};
  LinkFigures blue{4.7e9, Seconds(0.5e-6)};
  Seconds message_gap{0.3e-6};
};

/// Numbers hosts nid-0, nid-1, ... router by router, chassis by chassis, group by group. Throws
/// InputError for parameters that define no platform.
[[nodiscard]] std::string dragonfly_xml(const DragonflyParameters& parameters,
                                        const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& dragonfly_parameters();
/// "hosts" selects the smallest sufficient number of groups.
[[nodiscard]] std::string dragonfly_xml(const Settings& settings,
                                        const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
