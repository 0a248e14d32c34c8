// Nodes of GPUs on rails: NIC r of every node of an island is on the island's switch r, and the
// switches of all islands are joined by a core. The same machine as nvlink_ib with wiring rails and
// a NIC for each GPU, without a line of XML for each GPU: for thousands of nodes.
//
// A switch stands for the fat tree of one rail of an island, which is taken not to block. The core
// never blocks: it has the bandwidth of the uplinks.
//
// Hosts are gpu-0, gpu-1, ... node by node, island by island.
#include <fmt/format.h>

#include "topologies/generators/families.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/reducing.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

std::string rails_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const int nodes = settings.whole("nodes");
  const int gpus = settings.whole("gpus");
  const std::int64_t island = std::int64_t{nodes} * gpus;
  const int islands = settings.parts("islands", island);
  const double oversubscription = settings.above_0("oversubscription");
  const LinkFigures gpu = settings.figures("gpu-");
  const LinkFigures nic = settings.figures("nic-");
  const LinkFigures uplink{nic.bandwidth * nodes / oversubscription,
                           settings.time("uplink-latency")};
  XmlHead head{.comment = comment,
               .message_gap = settings.time("gap"),
               .reducing = reducing_figures(settings, gpu.bandwidth, nic.bandwidth),
               .topology = fmt::format("rails islands={} nodes={} gpus={}", islands, nodes, gpus),
               .links = {{"nvlink-", gpu}}};
  const std::int64_t hosts = settings.hosts(islands, "islands", island);
  if (islands > 1 || gpus > 1) head.links.emplace_back("uplink-", uplink);
  return platform_xml(head, cluster_xml("nic", "gpu-", hosts, nic));
}

void rails_words(CommonWords& words) {
  if (const auto racks = words.take_racks()) {
    const int nodes = nodes_of(*racks, words.settings().whole("gpus"), "rails");
    words.set("nodes", nodes);
    words.set("islands", racks->racks);
  }
  words.spread("bandwidth", {"nic-bandwidth"});
  words.spread("latency", {"nic-latency"});
}

}  // namespace

Family rails_family() {
  Family family{
      "rails",
      {"rail_optimized"},
      "islands of nodes of GPUs, a NIC and a switch of the island for each GPU of a node",
      {{"hosts", "", "GPUs to hold at least: sets islands to the least that does"},
       {"islands", "7", "islands"},
       {"nodes", "160", "nodes of an island"},
       {"gpus", "4", "GPUs (hosts) of a node, each with a NIC"},
       {"oversubscription", "2", "of a switch: bandwidth from below over bandwidth to the core"},
       {"bandwidth", "", "the same as nic-bandwidth"},
       {"latency", "", "the same as nic-latency"},
       {"gpu-bandwidth", "450GBps", "of a GPU's link to the switch of its node, each way"},
       {"gpu-latency", "85ns", "of that link; a route within a node has two"},
       {"nic-bandwidth", "25GBps", "of a NIC, each way"},
       {"nic-latency", "1.085us", "of a NIC's link to the switch of its rail"},
       {"uplink-latency", "115ns", "of a switch's link to the core"},
       {"gap", "300ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "islands",
      &rails_xml,
      &rails_words};
  add_racks(family.parameters, "islands of nodes, with a switch for each rail");
  add_reducing_parameters(family.parameters, true);
  return family;
}

}  // namespace thinwire::topologies
