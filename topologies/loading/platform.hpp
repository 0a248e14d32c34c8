// A platform XML, loaded by SimGrid: hosts, links, and the routes between hosts.
//
// SimGrid allows one engine in a process, and on some errors it ends the process: load a platform
// in a child (sim/core/base/child_process.hpp), in its `prepare`.
//
// What Thinwire reads from a platform beyond SimGrid, as properties:
//   host  thinwire.node       name of the node that the host is part of (GPUs of one machine);
//                             without it a host is a node of its own
//   zone  thinwire.message_gap      on the outermost zone: fixed seconds of each message on the
//                             ports of its hosts, beside the time of its bytes (LogGP's g; α of
//                             the α-β machine)
//   zone  thinwire.packet           on the outermost zone: "PAYLOAD HEADERS" in bytes: links carry
//                             payload at its share of their bandwidth
//   zone  thinwire.stored           on the outermost zone: bytes of a packet that each switch of a
//                             route receives before it sends the first one on
//   zone  thinwire.reducing.node     on the outermost zone: "BANDWIDTH LATENCY" of the switches inside
//   zone  thinwire.reducing.network  nodes, or between them: they sum what ranks send through them.
//                             Without it switches only forward
//   zone  thinwire.link.PREFIX      on the outermost zone: "BANDWIDTH LATENCY" of all links whose
//                             names start with PREFIX, as in "5.25GBps 100ns": SimGrid's clusters
//                             know one figure for all their links
//   zone  thinwire.topology         on the outermost zone: switches and cables around the one cluster
//                             of hosts of a platform, see wiring.hpp
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/base/reducing_switches.hpp"
#include "sim/core/base/units.hpp"
#include "topologies/loading/platform_factors.hpp"
#include "topologies/loading/platform_xml.hpp"

namespace thinwire::topologies {

struct PlatformHost {
  /// `group` where the platform does not tell it: only platforms with thinwire.topology do.
  static constexpr std::uint32_t kNoGroup = 0xffffffff;

  std::string name;
  std::string node;
  std::uint32_t group = kNoGroup;  ///< its group, cell or island, from 0
  std::uint32_t access = 0;        ///< its access switch among the group's, from 0
};

struct PlatformLink {
  std::string name;
  double bandwidth = 0;  ///< bytes a second
  Seconds latency;
  bool fat_pipe = false;  ///< every flow has the whole bandwidth to itself

  /// Whether it carries everything at once for nothing, at more than any wire has: it only steers
  /// SimGrid's choice of routes (generators/nvlink_ib.cpp), and is no part of a route.
  [[nodiscard]] bool is_weight() const {
    return fat_pipe && latency.value() == 0 && bandwidth >= 1e15;
  }
};

/// Indexes of hosts and links in the lists of their Platform.
using HostIndex = std::uint32_t;
using LinkIndex = std::uint32_t;

struct Route {
  std::vector<LinkIndex> links;  ///< in the order of travel; none where only a distance is between
  Seconds latency;               ///< of all of them, and of the distance in a Vivaldi zone
};

class Platform {
 public:
  struct Loading {
    bool simulated = false;  ///< by SimGrid, which then has to know all links
    bool packets = false;    ///< SimGrid's ns-3 model instead of flows
    bool verbose = false;    ///< SimGrid's log goes to stderr
    bool own_paths =
        true;  ///< shortest_paths.hpp routes Dijkstra zones of flows, and fat_tree_cables.hpp
               ///< connects a fat tree; else SimGrid does
    std::function<void()> before = {};  ///< called between the making of the engine and the XML
    PlatformFactors factors = {};
  };

  /// Throws InputError with the file and the line where the text is no XML or no platform. Where
  /// SimGrid aborts instead, its reason is on stderr. Throws SimulationError where the module
  /// `simgrid` is missing.
  Platform(const std::string& path, const Loading& loading);
  explicit Platform(const std::string& path);
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;
  ~Platform() = default;

  [[nodiscard]] const std::string& path() const { return loaded_->path; }
  [[nodiscard]] const PlatformXml& xml() const { return loaded_->xml; }
  /// By name, numbers in names as numbers: "gpu-9" is before "gpu-10".
  [[nodiscard]] std::span<const PlatformHost> hosts() const { return loaded_->hosts; }
  /// By name. The two directions of a split-duplex link are two links, NAME_UP and NAME_DOWN.
  [[nodiscard]] std::span<const PlatformLink> links() const { return loaded_->links; }
  /// Names of routers, by name.
  [[nodiscard]] std::vector<std::string> routers() const { return loaded_->routers(); }
  /// What SimGrid takes from one host to another. Throws InputError naming both where there is
  /// none.
  [[nodiscard]] Route route(HostIndex from, HostIndex to) const {
    Route route;
    loaded_->route(from, to, route.links, &route.latency);
    return route;
  }
  /// The same into a list that is used again, with the latency where it is asked for: for millions of
  /// pairs.
  void route_into(HostIndex from, HostIndex to, std::vector<LinkIndex>& links,
                  Seconds* latency = nullptr) const {
    loaded_->route(from, to, links, latency);
  }
  /// LogGP's g of the hosts' ports; 0 where the platform says nothing.
  [[nodiscard]] Seconds message_gap() const { return loaded_->message_gap; }
  /// The switches that sum, scaled like the links.
  [[nodiscard]] const ReducingSwitches& switches() const { return loaded_->switches; }

  /// What the module `simgrid` makes of a platform.
  struct Loaded {
    Loaded() = default;
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
    virtual ~Loaded() = default;

    [[nodiscard]] virtual std::vector<std::string> routers() const = 0;
    /// As Platform::route_into.
    virtual void route(HostIndex from, HostIndex to, std::vector<LinkIndex>& into,
                       Seconds* latency) = 0;

    std::string path;
    PlatformXml xml;
    std::vector<PlatformHost> hosts;
    std::vector<PlatformLink> links;
    Seconds message_gap;
    ReducingSwitches switches;
  };

 private:
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace thinwire::topologies
