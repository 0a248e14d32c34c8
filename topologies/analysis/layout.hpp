// Where to draw the hosts and switches of a platform's graph.
#pragma once

#include <vector>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

/// In a square of side 1, y downwards.
struct Position {
  double x = 0;
  double y = 0;
};

/// By vertex. One switch: hosts in a circle around it. Switches above one another (trees): a row
/// a level, hosts below, under them the switches inside a node. Switches beside one another
/// (dragonflies): groups in a circle, the switches of a group in a circle, hosts outside of theirs;
/// groups are what holds together without the links of the longest latency.
[[nodiscard]] std::vector<Position> layout_of(const PlatformGraph& platform);

}  // namespace thinwire::topologies
