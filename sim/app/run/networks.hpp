// Constructs the network of a point.
#pragma once

#include <memory>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/links/links.hpp"

namespace thinwire::run {

/// A network that is constructed and ready to run a point.
struct ReadyNetwork {
  std::unique_ptr<Network> network;
  /// The machine for the formulas: the point's, with α and β of its platform, if any, end to end.
  plan::Machine machine;
};

/// Constructs the network of a point and loads its platform: in a child process, as required by
/// topologies/loading/platform.hpp. Throws InputError for the network mpi, which is real processes.
[[nodiscard]] ReadyNetwork make_network(const plan::Point& point, bool verbose);

/// The LogGP machine of a machine: latency occupies no port.
[[nodiscard]] std::unique_ptr<Network> alphabeta_of(const plan::Machine& machine,
                                                    const networks::HostCosts& host = {});

/// A network on which the ranks run that the point simulates: few that stand for all, or all.
[[nodiscard]] std::unique_ptr<Network> for_ranks_of(const plan::Point& point,
                                                    std::unique_ptr<Network> network);

/// The network `links` of a point without its ranks, which are to be placed. Loads the platform, as
/// make_network() does.
[[nodiscard]] std::unique_ptr<networks::LinksNetwork> links_of(const plan::Point& point,
                                                               bool verbose);
/// The machine of a point for the formulas, with its ranks on these hosts of a platform.
[[nodiscard]] plan::Machine machine_on(const plan::Point& point,
                                       const topologies::Platform& platform,
                                       const std::vector<topologies::HostIndex>& hosts);

}  // namespace thinwire::run
