// A dragonfly like Cray's XC (Aries): groups of chassis of routers of nodes. Green links
// connect all routers of a chassis, black links the routers at the same position in any two chassis
// of a group, and blue links any two groups. The blue cables of two groups are links of their own
// and end on many routers: topologies/loading/wiring.hpp. With one chassis a group, the switches of
// a group are connected all to all, as with Slingshot.
//
// Hosts are nid-0, nid-1, ... router by router, chassis by chassis, group by group.
#include <fmt/format.h>

#include "topologies/generators/families.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

std::string dragonfly_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const int chassis = settings.whole("chassis");
  const int routers = settings.whole("routers");
  const int nodes = settings.whole("nodes");
  const std::int64_t group = std::int64_t{chassis} * routers * nodes;
  const int groups = settings.parts("groups", group);
  const int blue_cables = settings.whole("blue-cables");
  XmlHead head{
      .comment = comment,
      .message_gap = settings.time("gap"),
      .topology = fmt::format("dragonfly groups={} chassis={} routers={} nodes={} cables={}",
                              groups, chassis, routers, nodes, blue_cables),
      .links = {}};
  // Figures for links that do not exist are refused.
  const auto add = [&](const std::string& prefix, int joined, int cables, const char* none) {
    const LinkFigures cable = settings.figures(prefix);
    if (joined == 1) settings.refuse_given(prefix, none);
    if (joined > 1) head.links.emplace_back(prefix, bundle(cable, cables));
  };
  add("green-", routers, settings.whole("green-cables"), "one router has no green links");
  add("black-", chassis, settings.whole("black-cables"), "one chassis has no black links");
  add("blue-", groups, 1, "one group has no blue links");
  return platform_xml(head,
                      cluster_xml("dragonfly", "nid-", settings.hosts(groups, "groups", group),
                                  settings.figures("host-")));
}

void dragonfly_words(CommonWords& words) {
  const auto racks = words.take_racks();
  if (racks) {
    words.set("groups", racks->racks);
    words.set("chassis", 1);
    words.set_switches(*racks, "routers");
  }
  const Settings asked = words.settings();
  std::vector<std::string> cables{"host"};  // and those that there are
  if (asked.whole("routers") > 1) cables.emplace_back("green");
  if (asked.whole("chassis") > 1) cables.emplace_back("black");
  const std::int64_t group =
      std::int64_t{asked.whole("chassis")} * asked.whole("routers") * asked.whole("nodes");
  if (asked.parts("groups", group) > 1) cables.emplace_back("blue");
  words.spread_figures(cables);
  words.set_cables_between(racks, "blue");
}

}  // namespace

Family dragonfly_family() {
  Family family{
      "dragonfly",
      {"aries", "slingshot"},
      "groups of chassis of routers, as Cray XC (Aries) and Slingshot have them",
      {{"hosts", "", "hosts to hold at least: sets groups to the least that does"},
       {"groups", "14", "groups"},
       {"chassis", "6", "chassis of a group"},
       {"routers", "16", "routers of a chassis"},
       {"nodes", "4", "nodes (hosts) of a router"},
       {"green-cables", "1", "cables between two routers of a chassis"},
       {"black-cables", "3", "cables between the same routers of two chassis"},
       {"blue-cables", "73", "cables between two groups, spread over the routers of each"},
       {"host-bandwidth", "10.2GBps", "of a node's link to its router, each way"},
       {"host-latency", "500ns", "of a node's link"},
       {"green-bandwidth", "5.25GBps", "of a green cable"},
       {"green-latency", "100ns", "of a green link"},
       {"black-bandwidth", "5.25GBps", "of a black cable"},
       {"black-latency", "100ns", "of a black link"},
       {"blue-bandwidth", "4.7GBps", "of a blue cable"},
       {"blue-latency", "500ns", "of a blue link"},
       {"gap", "300ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "groups",
      &dragonfly_xml,
      &dragonfly_words};
  add_cable_words(family.parameters, "blue");
  add_racks(family.parameters, "groups whose routers are connected all to all");
  return family;
}

}  // namespace thinwire::topologies
