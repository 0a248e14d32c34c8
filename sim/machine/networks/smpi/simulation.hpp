// What the module `simgrid` does for SmpiNetwork.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::networks {

/// SMPI in this process. SimGrid is configured when it is made, and its platform is loaded after that.
class SmpiSimulation {
 public:
  SmpiSimulation() = default;
  SmpiSimulation(const SmpiSimulation&) = delete;
  SmpiSimulation& operator=(const SmpiSimulation&) = delete;
  virtual ~SmpiSimulation() = default;

  /// Configures SMPI: after the engine is made, and before the XML is loaded.
  virtual void configure() = 0;
  /// The loaded platform, which must outlive this.
  virtual void take(const topologies::Platform& platform) = 0;
  /// As the functions of SmpiNetwork. `timeline` may be null.
  virtual void connect(std::vector<topologies::HostIndex> hosts) = 0;
  virtual RunReport run(int ranks, const RankProgram& program, Timeline* timeline) = 0;
};

/// What the module `simgrid` gives away for the network smpi.
struct SmpiFunctions {
  std::unique_ptr<SmpiSimulation> (*make)(const SmpiSettings& settings);
  std::string (*version)();
};

}  // namespace thinwire::networks
