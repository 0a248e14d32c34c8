// What zones of our own share: cables as SimGrid names them, and taking hosts and routers over from
// SimGrid's zone.
#pragma once

#include <simgrid/forward.h>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include <string_view>
#include <vector>

namespace thinwire::topologies {

/// The two directions of a cable. Up is from a host to its switch, from a lower to a higher level,
/// and from the lower to the higher number among equals.
struct Cable {
  const simgrid::s4u::Link* up = nullptr;
  const simgrid::s4u::Link* down = nullptr;
};

/// The links whose names begin with `prefix`, in the order of the number at the end of their names
/// ("_UP" and "_DOWN" aside): SimGrid counts links as it makes them.
[[nodiscard]] std::vector<Cable> cables_of(const std::vector<simgrid::s4u::Link*>& links,
                                           std::string_view prefix);

/// The zones of the loaded platform, or of what is loaded of it so far, whose class has that name,
/// from the outside in. SimGrid's library does not export what a dynamic_cast to some classes needs.
[[nodiscard]] std::vector<simgrid::kernel::routing::NetZoneImpl*> zones_called(
    std::string_view class_name);

/// What a zone knows hosts by.
[[nodiscard]] std::vector<simgrid::kernel::routing::NetPoint*> points_of(
    const std::vector<simgrid::s4u::Host*>& hosts);

/// Makes `own` the zone of points that are in `replaced`, within that zone, and seals it. To be
/// called when the XML is loaded and the platform is not yet sealed. SimGrid owns `own` from then
/// on.
void take_over(simgrid::kernel::routing::NetZoneImpl* own,
               simgrid::kernel::routing::NetZoneImpl& replaced,
               const std::vector<simgrid::kernel::routing::NetPoint*>& points);

}  // namespace thinwire::topologies
