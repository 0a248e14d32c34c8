#include "sim/machine/networks/smpi/smpi.hpp"

#include <utility>

#include "sim/machine/networks/smpi/simulation.hpp"
#include "topologies/loading/simgrid_module.hpp"

namespace thinwire::networks {

namespace {

const SmpiFunctions& smpi_functions() {
  static const auto& kFunctions = topologies::kSimGrid.table<SmpiFunctions>("thinwire_smpi");
  return kFunctions;
}

}  // namespace

std::string simgrid_version() { return smpi_functions().version(); }

SmpiNetwork::SmpiNetwork(const std::string& platform, const SmpiSettings& settings)
    : simulation_(smpi_functions().make(settings)),
      platform_(platform, {.simulated = true,
                           .packets = settings.packets,
                           .verbose = settings.verbose,
                           .before = [this] { simulation_->configure(); },
                           .factors = settings.factors}) {
  simulation_->take(platform_);
}

SmpiNetwork::~SmpiNetwork() = default;

void SmpiNetwork::connect(std::vector<topologies::HostIndex> hosts) {
  simulation_->connect(std::move(hosts));
}

RunReport SmpiNetwork::run(int ranks, const RankProgram& program) {
  return simulation_->run(ranks, program, timeline());
}

}  // namespace thinwire::networks
