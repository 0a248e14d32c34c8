// The table of the networks that a point can name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/experiment/point.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/links/links.hpp"

namespace thinwire::experiment {

/// The default platform of a network that needs one: that of the Ok-Topk paper.
inline constexpr const char* kDefaultPlatform = "aries_daint";

enum class PlatformUse : std::uint8_t { none, possible, needed };

/// A network that is constructed and ready to run a point.
struct ReadyNetwork {
  std::unique_ptr<Network> network;
  /// The machine for the formulas: the point's, with α and β of its platform, if any, end to end.
  Machine machine;
};

struct NetworkInfo {
  std::string name;
  std::string summary;
  bool has_clock = true;
  /// An iteration begins at the time at which the one before has ended, which rounds its times.
  bool clock_goes_on = false;
  /// Flows share links, so a run may deviate from the formula and is not judged by it.
  bool congests = false;
  /// Real processes, which only 'thinwire measure' runs.
  bool is_real = false;
  PlatformUse platform = PlatformUse::none;
  /// Constructs the network and loads its platform: in a child process, as required by
  /// topologies/loading/platform.hpp.
  ReadyNetwork (*make)(const Point& point, bool verbose) = nullptr;
};

[[nodiscard]] std::unique_ptr<Network> alphabeta_of(const Machine& machine,
                                                    const networks::HostCosts& host = {});

/// The network `links` of a point without its ranks, which are to be placed. Loads the platform, as
/// NetworkInfo::make does.
[[nodiscard]] std::unique_ptr<networks::LinksNetwork> links_of(const Point& point, bool verbose);
/// The machine of a point for the formulas, with its ranks on these hosts of a platform.
[[nodiscard]] Machine machine_on(const Point& point, const topologies::Platform& platform,
                                 const std::vector<topologies::HostIndex>& hosts);

/// The settings that this network reads but not every network does: "platform, placement, ...".
[[nodiscard]] std::string settings_read_on(const std::string& network);
/// The table, built once.
[[nodiscard]] const std::vector<NetworkInfo>& all_networks();
/// Throws InputError with the nearest name if there is no such network.
[[nodiscard]] const NetworkInfo& find_network(std::string_view name);

}  // namespace thinwire::experiment
