// A dragonfly as Cray's XC (Aries) has it: groups of chassis of routers of nodes. Green links join
// all routers of a chassis, black links the routers in the same place of each two chassis of a
// group, blue links each two groups.
//
// SimGrid routes minimally, and joins two groups by one blue link only: between router j of the
// first chassis of group i, and router i of the first chassis of group j. A machine whose bundle of
// blue cables is spread over the routers of a group has more ways to reach it.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct DragonflyParameters {
  int groups = 14;
  int chassis = 6;       ///< of a group
  int routers = 16;      ///< of a chassis
  int nodes = 4;         ///< of a router
  int green_cables = 1;  ///< between two routers of a chassis; their bandwidths add up
  int black_cables = 3;  ///< between two routers in the same place
  int blue_cables = 73;  ///< between two groups
  LinkFigures host{10.2e9, Seconds(0.5e-6)};
  LinkFigures green{5.25e9, Seconds(100e-9)};
  LinkFigures black{5.25e9, Seconds(100e-9)};
  LinkFigures blue{4.7e9, Seconds(0.5e-6)};
  Seconds message_gap{0.3e-6};
};

/// Hosts nid-0, nid-1 ..., those of a router, a chassis, a group next to each other. Throws
/// InputError for parameters that make no platform, or none that SimGrid can route.
[[nodiscard]] std::string dragonfly_xml(const DragonflyParameters& parameters,
                                        const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& dragonfly_parameters();
/// "hosts" takes the least number of groups that hold so many.
[[nodiscard]] std::string dragonfly_xml(const Settings& settings,
                                        const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
