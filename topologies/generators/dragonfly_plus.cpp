// A Dragonfly+ (Shpiner et al., HiPINEB 2017), also called Megafly: cells of leaf switches with the
// hosts and of spine switches, where every leaf has a link to every spine of its cell, and cables
// between the spines of any two cells, each a link of its own.
//
// Hosts are nid-0, nid-1, ... leaf by leaf, cell by cell.
#include <fmt/format.h>

#include "topologies/generators/families.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

std::string dragonfly_plus_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const int leaves = settings.whole("leaves");
  const int nodes = settings.whole("nodes");
  const std::int64_t cell = std::int64_t{leaves} * nodes;
  const int cells = settings.parts("cells", cell);
  XmlHead head{
      .comment = comment,
      .message_gap = settings.time("gap"),
      .topology =
          fmt::format("dragonfly_plus cells={} leaves={} nodes={} spines={} cables={}", cells,
                      leaves, nodes, settings.whole("spines"), settings.whole("global-cables")),
      .links = {{"uplink-", bundle(settings.figures("uplink-"), settings.whole("uplinks"))}}};
  const LinkFigures global = settings.figures("global-");
  if (cells == 1) settings.refuse_given("global-", "one cell has no links to others");
  if (cells > 1) head.links.emplace_back("global-", global);
  return platform_xml(head,
                      cluster_xml("dragonfly_plus", "nid-", settings.hosts(cells, "cells", cell),
                                  settings.figures("host-")));
}

void dragonfly_plus_words(CommonWords& words) {
  const auto racks = words.take_racks();
  if (racks) {
    words.set("cells", racks->racks);
    words.set_switches(*racks, "leaves");
    words.set("spines", words.settings().whole("nodes"));
  }
  const Settings asked = words.settings();
  const std::int64_t cell = std::int64_t{asked.whole("leaves")} * asked.whole("nodes");
  std::vector<std::string> cables{"host", "uplink"};
  if (asked.parts("cells", cell) > 1) cables.emplace_back("global");
  words.spread_figures(cables);
  words.set_cables_between(racks, "global");
}

}  // namespace

Family dragonfly_plus_family() {
  Family family{
      "dragonfly_plus",
      {"megafly"},
      "cells of leaf and spine switches, cables between the spines of cells",
      {{"hosts", "", "hosts to hold at least: sets cells to the least that does"},
       {"cells", "20", "cells"},
       {"leaves", "18", "leaf switches of a cell"},
       {"spines", "18", "spine switches of a cell"},
       {"nodes", "10", "nodes (hosts) of a leaf switch"},
       {"uplinks", "1", "cables between a leaf and a spine of its cell"},
       {"global-cables", "18", "cables between two cells, spread over the spines of each"},
       {"host-bandwidth", "50GBps", "of a node's link to its leaf, each way"},
       {"host-latency", "300ns", "of a node's link"},
       {"uplink-bandwidth", "25GBps", "of a cable between leaf and spine"},
       {"uplink-latency", "150ns", "of a link between leaf and spine"},
       {"global-bandwidth", "25GBps", "of a cable between two cells"},
       {"global-latency", "250ns", "of a link between two cells"},
       {"gap", "300ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "cells",
      &dragonfly_plus_xml,
      &dragonfly_plus_words};
  add_cable_words(family.parameters, "global");
  add_racks(family.parameters, "cells, each with a spine for each host of a leaf");
  return family;
}

}  // namespace thinwire::topologies
