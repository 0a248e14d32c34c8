// A network on a platform XML file. Messages share the links of the platform fairly, which replaces
// SimGrid's model of flows. This network is about a hundred times as fast as smpi, and is validated
// against it: see docs/explanation/links.md and docs/decisions/0017-links.md.
//
// The links of a route with latency l and smallest bandwidth B serve L + g B bytes for a message of
// L bytes. Here g is the message gap of the platform (LogGP), which uses bandwidth on the route as
// in smpi. A message that shares no link thus takes g + l + L / B. All links of the route,
// including ports, share their bandwidth fairly among the messages that cross them
// (fair_links.hpp); fat pipes are not shared. A transfer begins when its send and its receive have
// both been posted (rendezvous), and its send is complete when the message is delivered, as in
// smpi.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/common/read_ahead_settings.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

class Fabric;

/// A network of links that messages share.
class LinksNetwork final : public Network {
 public:
  /// Loads the platform; throws as Platform does.
  LinksNetwork(const std::string& platform, const LinksSettings& settings);
  ~LinksNetwork() override;
  LinksNetwork(const LinksNetwork&) = delete;
  LinksNetwork& operator=(const LinksNetwork&) = delete;

  [[nodiscard]] const topologies::Platform& platform() const { return platform_; }
  /// The routes between the hosts that place() was given.
  [[nodiscard]] const topologies::CompactRoutes& routes() const { return *routes_; }
  /// Puts rank r of the following runs on hosts[r]. Throws InputError when two hosts have no route,
  /// or when there are no hosts for background flows.
  void connect(std::vector<topologies::HostIndex> hosts);

  /// Sets how far the loop of later runs reads ahead, which changes no report.
  void read_ahead(const ReadAheadSettings& settings) { read_ahead_ = settings; }

  /// Deterministic and single-threaded. Throws InputError unless hosts were given for all ranks.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  LinksSettings settings_;
  topologies::Platform platform_;
  std::vector<topologies::HostIndex> hosts_;  ///< by rank
  std::unique_ptr<topologies::CompactRoutes> routes_;
  std::unique_ptr<const Fabric> fabric_;
  std::vector<double> bandwidths_;  ///< by link: the bandwidth that background traffic leaves
  ReadAheadSettings read_ahead_;
};

}  // namespace thinwire::networks
