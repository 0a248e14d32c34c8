// GPU nodes with an internal switch (NVSwitch, or PCIe), connected by InfiniBand (or Ethernet):
// leaves, and above them an ideal core that spreads perfectly. Every GPU is a host: gpu-0, gpu-1, ...
// node by node, each with the property thinwire.node.
//
// With one NIC per node, all its GPUs share it. With several, GPU g uses NIC g * nics / gpus for
// every destination; with rails, leaf r holds NIC r of every node, otherwise a leaf holds all NICs
// of its nodes. SimGrid takes one shortest route: GPUs do not forward for one another, and there is
// no choice among the NICs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/families.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/reducing.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

struct Parameters {
  int nodes;
  int gpus;                 ///< per node
  int nics;                 ///< per node; divides gpus
  bool rails;               ///< one leaf per NIC r instead of leaves per node
  int leaf_nodes;           ///< nodes cabled to one leaf
  double oversubscription;  ///< of a leaf: downward over upward bandwidth
  LinkFigures gpu;          ///< from a GPU to the switch of its node
  LinkFigures nic;          ///< to a leaf from a GPU, or with one NIC from that switch
  Seconds uplink_latency;   ///< of the link from a leaf to the core
};

/// The number of groups of nodes that share their leaves.
int pods(const Parameters& p) { return (p.nodes + p.leaf_nodes - 1) / p.leaf_nodes; }

int leaves(const Parameters& p) { return p.rails ? pods(p) * p.nics : pods(p); }

/// The leaf that holds a NIC of a node.
int leaf_of(const Parameters& p, int node, int nic) {
  const int pod = node / p.leaf_nodes;
  return p.rails ? pod * p.nics + nic : pod;
}

double uplink_bandwidth(const Parameters& p) {
  const int ports = std::min(p.leaf_nodes, p.nodes) * (p.rails ? 1 : p.nics);
  return p.nic.bandwidth * ports / p.oversubscription;
}

/// One cluster per node, with its switch as the gateway and one NIC: small, and fast to route.
std::string shared_nic_body(const Parameters& p) {
  std::string text;
  auto out = std::back_inserter(text);
  for (int node = 0; node < p.nodes; ++node) {
    fmt::format_to(out,
                   "    <cluster id=\"node{0}\" prefix=\"gpu-\" radical=\"{1}-{2}\" suffix=\"\" "
                   "speed=\"{3}\" bw=\"{4}\" lat=\"{5}\" sharing_policy=\"SPLITDUPLEX\" "
                   "router_id=\"switch{0}\"><prop id=\"thinwire.node\" value=\"node{0}\"/>"
                   "</cluster>\n",
                   node, node * p.gpus, (node + 1) * p.gpus - 1, kHostSpeed,
                   bandwidth_text(p.gpu.bandwidth), time_text(p.gpu.latency));
  }
  const auto router = [&](const std::string& name) {
    fmt::format_to(out, "    <zone id=\"{0}_zone\" routing=\"Full\"><router id=\"{0}\"/></zone>\n",
                   name);
  };
  const auto join = [&](const std::string& zone, const std::string& gateway,
                        const std::string& above, const std::string& link) {
    fmt::format_to(out,
                   "    <zoneRoute src=\"{0}\" dst=\"{2}_zone\" gw_src=\"{1}\" gw_dst=\"{2}\">"
                   "<link_ctn id=\"{3}\" direction=\"UP\"/></zoneRoute>\n",
                   zone, gateway, above, link);
  };
  for (int leaf = 0; leaf < leaves(p); ++leaf) router(fmt::format("leaf{}", leaf));
  if (leaves(p) > 1) router("core");
  for (int node = 0; node < p.nodes; ++node) text += duplex_link(fmt::format("nic{}", node), p.nic);
  const LinkFigures uplink{uplink_bandwidth(p), p.uplink_latency};
  for (int leaf = 0; leaf < leaves(p) && leaves(p) > 1; ++leaf) {
    text += duplex_link(fmt::format("uplink{}", leaf), uplink);
  }
  for (int node = 0; node < p.nodes; ++node) {
    join(fmt::format("node{}", node), fmt::format("switch{}", node),
         fmt::format("leaf{}", leaf_of(p, node, 0)), fmt::format("nic{}", node));
  }
  for (int leaf = 0; leaf < leaves(p) && leaves(p) > 1; ++leaf) {
    join(fmt::format("leaf{}_zone", leaf), fmt::format("leaf{}", leaf), "core",
         fmt::format("uplink{}", leaf));
  }
  return text;
}

/// Writes a single flat zone; see flat_body().
class FlatZone {
 public:
  explicit FlatZone(const Parameters& p) : p_(p), private_nic_(p.nics == p.gpus) {}

  std::string text() {
    add_points();
    add_links();
    add_routes_of_gpus();
    add_routes_of_switches();
    return std::move(text_);
  }

 private:
  /// The NICs that are points of their own, because several GPUs share each.
  [[nodiscard]] int shared_nics() const { return private_nic_ ? 0 : p_.nodes * p_.nics; }
  /// The leaves that a core joins.
  [[nodiscard]] int joined_leaves() const { return leaves(p_) > 1 ? leaves(p_) : 0; }
  [[nodiscard]] std::string shared_nic(int nic) const {
    return fmt::format("nics{}_{}", nic / p_.nics, nic % p_.nics);
  }
  [[nodiscard]] std::string leaf(int node, int nic) const {
    return fmt::format("leaf{}", leaf_of(p_, node, nic));
  }

  void add_router(const std::string& name) {
    text_ += fmt::format("    <router id=\"{}\"/>\n", name);
  }

  void add_points() {
    for (int gpu = 0; gpu < p_.nodes * p_.gpus; ++gpu) {
      text_ += fmt::format(
          "    <host id=\"gpu-{}\" speed=\"{}\"><prop id=\"thinwire.node\" "
          "value=\"node{}\"/></host>\n",
          gpu, kHostSpeed, gpu / p_.gpus);
    }
    for (int node = 0; node < p_.nodes; ++node) {
      add_router(fmt::format("switch{}", node));
      for (int nic = 0; nic < p_.nics && !private_nic_; ++nic) {
        add_router(shared_nic(node * p_.nics + nic));
      }
    }
    for (int leaf = 0; leaf < leaves(p_); ++leaf) add_router(fmt::format("leaf{}", leaf));
    if (joined_leaves() > 0) add_router("core");
  }

  void add_links() {
    for (int gpu = 0; gpu < p_.nodes * p_.gpus; ++gpu) {
      // One per GPU: a shared one would couple all flows in SimGrid's solver.
      text_ += fmt::format(
          "    <link id=\"weight{}\" bandwidth=\"1000TBps\" latency=\"0s\" "
          "sharing_policy=\"FATPIPE\"/>\n",
          gpu);
      text_ += duplex_link(fmt::format("nvlink{}", gpu), p_.gpu);
      text_ += private_nic_
                   ? duplex_link(fmt::format("nic{}", gpu), p_.nic)
                   : duplex_link(fmt::format("pcie{}", gpu), {p_.gpu.bandwidth, Seconds(0)});
    }
    for (int nic = 0; nic < shared_nics(); ++nic)
      text_ += duplex_link(fmt::format("nic{}", nic), p_.nic);
    const LinkFigures uplink{uplink_bandwidth(p_), p_.uplink_latency};
    for (int leaf = 0; leaf < joined_leaves(); ++leaf) {
      text_ += duplex_link(fmt::format("uplink{}", leaf), uplink);
    }
  }

  void join(const std::string& from, const std::string& to, const std::string& link,
            const std::string& weights = {}) {
    text_ += fmt::format(
        "    <route src=\"{}\" dst=\"{}\">{}<link_ctn id=\"{}\" "
        "direction=\"UP\"/></route>\n",
        from, to, weights, link);
  }

  void add_routes_of_gpus() {
    for (int gpu = 0; gpu < p_.nodes * p_.gpus; ++gpu) {
      const int node = gpu / p_.gpus;
      const int nic = gpu % p_.gpus / (p_.gpus / p_.nics);
      const std::string host = fmt::format("gpu-{}", gpu);
      const std::string weight = fmt::format("<link_ctn id=\"weight{}\"/>", gpu);
      join(host, fmt::format("switch{}", node), fmt::format("nvlink{}", gpu), weight);
      if (private_nic_) {
        join(host, leaf(node, nic), fmt::format("nic{}", gpu), weight + weight);
      } else {
        join(host, shared_nic(node * p_.nics + nic), fmt::format("pcie{}", gpu), weight + weight);
      }
    }
  }

  void add_routes_of_switches() {
    for (int nic = 0; nic < shared_nics(); ++nic) {
      join(shared_nic(nic), leaf(nic / p_.nics, nic % p_.nics), fmt::format("nic{}", nic));
    }
    for (int leaf = 0; leaf < joined_leaves(); ++leaf) {
      join(fmt::format("leaf{}", leaf), "core", fmt::format("uplink{}", leaf));
    }
  }

  const Parameters& p_;
  bool private_nic_;
  std::string text_;
};

/// A single flat zone. SimGrid takes the path with the fewest links, so each GPU has an unlimited
/// link without latency ("weight"), which occurs once on the path to its switch and twice on the
/// path to its NIC. Costs: GPU - switch 2; GPU - leaf 3, or 4 if GPUs share NICs; leaf - core 1. So
/// a route within a node costs 4 over the switch against 6 over a NIC, and one to the leaf of
/// another rail 5 over the core against 7 over a GPU of that rail.
std::string flat_body(const Parameters& p) { return FlatZone(p).text(); }

std::string nvlink_ib_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const std::string& wiring = settings.text("wiring");
  if (wiring != "rails" && wiring != "nodes") {
    throw InputError(settings.refusal("wiring", "rails or nodes"));
  }
  const int gpus = settings.whole("gpus");
  const Parameters p{.nodes = settings.parts("nodes", gpus),
                     .gpus = gpus,
                     .nics = settings.whole("nics"),
                     .rails = wiring == "rails",
                     .leaf_nodes = settings.whole("leaf-nodes"),
                     .oversubscription = settings.above_0("oversubscription"),
                     .gpu = settings.figures("gpu-"),
                     .nic = settings.figures("nic-"),
                     .uplink_latency = settings.time("uplink-latency")};
  if (p.gpus % p.nics != 0) {
    throw InputError(
        "nvlink_ib: {} NICs cannot be shared evenly by {} GPUs; expected a divisor of {}", p.nics,
        p.gpus, p.gpus);
  }
  static_cast<void>(settings.hosts(p.nodes, "nodes", p.gpus));
  return platform_xml({.comment = comment,
                       .routing = "DijkstraCache",
                       .message_gap = settings.time("gap"),
                       .reducing = reducing_figures(settings, p.gpu.bandwidth, p.nic.bandwidth),
                       .links = {}},
                      p.nics == 1 ? shared_nic_body(p) : flat_body(p));
}

void nvlink_ib_words(CommonWords& words) {
  if (const auto racks = words.take_racks()) {
    const int nodes = nodes_of(*racks, words.settings().whole("gpus"), "nvlink_ib");
    words.set("leaf-nodes", nodes);
    words.set("nodes", racks->racks * nodes);
  }
  words.spread("bandwidth", {"nic-bandwidth"});
  words.spread("latency", {"nic-latency"});
}

}  // namespace

Family nvlink_ib_family() {
  Family family{
      "nvlink_ib",
      {"nvlink", "nvswitch", "gpu_nodes", "dgx"},
      "nodes of GPUs on NVLink or PCIe, InfiniBand or Ethernet between them",
      {{"hosts", "", "GPUs to hold at least: sets nodes to the least that does"},
       {"nodes", "64", "nodes"},
       {"gpus", "8", "GPUs (hosts) of a node"},
       {"nics", "8", "NICs of a node, a divisor of gpus; with 1 all GPUs share it"},
       {"wiring", "rails", "rails: leaf r holds NIC r of its nodes; nodes: a leaf holds all NICs"},
       {"leaf-nodes", "32", "nodes with cables to one leaf"},
       {"oversubscription", "1", "of a leaf: bandwidth from below over bandwidth to the core"},
       {"bandwidth", "", "the same as nic-bandwidth"},
       {"latency", "", "the same as nic-latency"},
       {"gpu-bandwidth", "300GBps", "of a GPU's link to the switch of its node, each way"},
       {"gpu-latency", "85ns", "of that link; a route within a node has two"},
       {"nic-bandwidth", "25GBps", "of a NIC, each way"},
       {"nic-latency", "1.085us", "of a NIC's link to its leaf"},
       {"uplink-latency", "115ns", "of a leaf's link to the core"},
       {"gap", "300ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "nodes",
      &nvlink_ib_xml,
      &nvlink_ib_words};
  add_racks(family.parameters, "groups of nodes that share leaf switches");
  add_reducing_parameters(family.parameters, true);
  return family;
}

}  // namespace thinwire::topologies
