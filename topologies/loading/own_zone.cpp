#include "topologies/loading/own_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <map>
#include <typeinfo>

namespace thinwire::topologies {

namespace {

std::uint64_t serial_of(std::string_view name) {
  std::uint64_t serial = 0;
  for (const char c : name.substr(name.rfind('_') + 1)) {
    serial = serial * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return serial;
}

/// The zone and all that are in it.
void append_zones(simgrid::kernel::routing::NetZoneImpl* zone,
                  std::vector<simgrid::kernel::routing::NetZoneImpl*>& into) {
  into.push_back(zone);
  for (simgrid::kernel::routing::NetZoneImpl* child : zone->get_children()) {
    append_zones(child, into);
  }
}

}  // namespace

std::vector<simgrid::kernel::routing::NetZoneImpl*> zones_called(std::string_view class_name) {
  std::vector<simgrid::kernel::routing::NetZoneImpl*> zones;
  append_zones(simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_impl(), zones);
  std::erase_if(zones, [&](const auto* zone) {
    return std::string_view(typeid(*zone).name()).find(class_name) == std::string_view::npos;
  });
  return zones;
}

std::vector<Cable> cables_of(const std::vector<simgrid::s4u::Link*>& links,
                             std::string_view prefix) {
  std::map<std::uint64_t, Cable> by_serial;
  for (const simgrid::s4u::Link* link : links) {
    std::string_view name = link->get_name();
    if (!name.starts_with(prefix)) continue;
    const bool up = name.ends_with("_UP");
    const bool down = name.ends_with("_DOWN");
    name.remove_suffix(up ? 3 : down ? 5 : 0);
    Cable& cable = by_serial[serial_of(name)];
    if (!down) cable.up = link;
    if (!up) cable.down = link;  // what is neither serves both ways
  }
  std::vector<Cable> cables;
  for (const auto& [serial, cable] : by_serial) cables.push_back(cable);
  return cables;
}

std::vector<simgrid::kernel::routing::NetPoint*> points_of(
    const std::vector<simgrid::s4u::Host*>& hosts) {
  std::vector<simgrid::kernel::routing::NetPoint*> points;
  for (const simgrid::s4u::Host* host : hosts) points.push_back(host->get_netpoint());
  return points;
}

void take_over(simgrid::kernel::routing::NetZoneImpl* own,
               simgrid::kernel::routing::NetZoneImpl& replaced,
               const std::vector<simgrid::kernel::routing::NetPoint*>& points) {
  // Within the other, which stays in its place: zones around it know their children by number.
  own->set_parent(&replaced);
  own->set_network_model(replaced.get_network_model());
  own->set_cpu_pm_model(replaced.get_cpu_pm_model());
  own->set_cpu_vm_model(replaced.get_cpu_vm_model());
  own->set_disk_model(replaced.get_disk_model());
  own->set_host_model(replaced.get_host_model());
  for (simgrid::kernel::routing::NetPoint* point : points) point->set_englobing_zone(own);
  own->seal();
}

}  // namespace thinwire::topologies
