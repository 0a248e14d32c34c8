// Right routes in SimGrid's dragonflies.
//
// SimGrid 3.32 forgets the chassis: after a green hop its route goes on as if from the first
// chassis of the group. Between two routers of a group that differ in chassis and place, from
// outside the first chassis, it then takes a black link that does not touch the router it has come
// to, or none: the traffic of all chassis meets on the black links of the first one, and the others
// stay idle. See docs/decisions/0008-dragonfly-routes.md.
#pragma once

#include <simgrid/forward.h>

namespace thinwire::topologies {

/// Moves the hosts of a dragonfly into a zone that routes over the same links as the dragonfly is
/// meant to: minimally, green before black. To be called when the XML is loaded and the platform is
/// not yet sealed. Does nothing, and says so, where there is no dragonfly with several chassis,
/// where it is not the whole platform, or where it has limiter links.
bool mend_dragonfly(simgrid::s4u::Engine& engine);

}  // namespace thinwire::topologies
