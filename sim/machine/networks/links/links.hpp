// A platform XML without SimGrid's flows: links that messages share fairly. Some hundred times
// faster than smpi, and judged by it: docs/links.md and docs/decisions/0017-links.md.
//
// A message of L bytes, on a route of the latency l whose smallest bandwidth is B, counts as
// L + g B bytes: g is the platform's message gap (LogGP), which takes bandwidth on the way as it
// does in smpi. So alone it takes g + l + L / B.
// All links of its route, ports too, share their bandwidth fairly among the messages that cross
// them (fair_links.hpp); fat pipes do not. A message begins when both sides are there (rendezvous),
// and is sent when it is delivered, as in smpi.
//
// Where no two ranks have a link in common there is nothing but ports: the first and the last link
// of each route, which belong to one rank. Then they are alphabeta's: each sends, or takes in, one
// message after the other, a send is complete when its port is free (eager), and times are exactly
// those of LogGP. LinksSettings::fair_ports has them shared like other links.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/compact_routes.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

class Fabric;

/// The links of a platform, shared by messages.
class LinksNetwork final : public Network {
 public:
  /// Loads the platform; throws as Platform does.
  LinksNetwork(const std::string& platform, const LinksSettings& settings);
  ~LinksNetwork() override;
  LinksNetwork(const LinksNetwork&) = delete;
  LinksNetwork& operator=(const LinksNetwork&) = delete;
  LinksNetwork(LinksNetwork&&) = delete;
  LinksNetwork& operator=(LinksNetwork&&) = delete;

  [[nodiscard]] const topologies::Platform& platform() const { return platform_; }
  /// Rank r of the runs to come is on hosts[r]. Throws InputError where two have no route, and
  /// where background flows find no hosts.
  void place(std::vector<topologies::HostIndex> hosts);

  /// Deterministic; one thread. Throws InputError where no place was given for that many ranks.
  RunReport run(int ranks, const RankProgram& program) override;

 private:
  LinksSettings settings_;
  topologies::Platform platform_;
  std::vector<topologies::HostIndex> hosts_;  ///< by rank
  std::unique_ptr<topologies::CompactRoutes> routes_;
  std::unique_ptr<const Fabric> fabric_;
  std::vector<double> bandwidths_;  ///< that are left to the ranks, by link
};

}  // namespace thinwire::networks
