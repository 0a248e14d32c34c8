#include "topologies/loading/own_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <map>

namespace thinwire::topologies {

namespace {

std::uint64_t serial_of(std::string_view name) {
  std::uint64_t serial = 0;
  for (const char c : name.substr(name.rfind('_') + 1)) {
    serial = serial * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return serial;
}

}  // namespace

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

void take_over(simgrid::kernel::routing::NetZoneImpl* own,
               simgrid::kernel::routing::NetZoneImpl& replaced,
               const std::vector<simgrid::s4u::Host*>& hosts) {
  // The parent owns it from here. A cluster without a zone around it has no parent.
  own->set_parent(replaced.get_parent() != nullptr ? replaced.get_parent() : &replaced);
  own->set_network_model(replaced.get_network_model());
  own->set_cpu_pm_model(replaced.get_cpu_pm_model());
  own->set_cpu_vm_model(replaced.get_cpu_vm_model());
  own->set_disk_model(replaced.get_disk_model());
  own->set_host_model(replaced.get_host_model());
  for (simgrid::s4u::Host* host : hosts) host->get_netpoint()->set_englobing_zone(own);
  own->seal();
}

}  // namespace thinwire::topologies
