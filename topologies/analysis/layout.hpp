// Lays out the hosts and switches of a platform's graph for drawing.
#pragma once

#include <vector>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

/// A position in a square of side 1, y downwards.
struct Position {
  double x = 0;
  double y = 0;
};

/// The positions by vertex. One switch: hosts are on a circle around it. Switches in levels
/// (trees): one row per level, hosts below, and under them the switches inside a node. Switches on
/// one level (dragonflies): groups on a circle, the switches of a group on a circle, hosts outside
/// of it; groups are the components without the links of the longest latency.
[[nodiscard]] std::vector<Position> layout_of(const PlatformGraph& platform);

}  // namespace thinwire::topologies
