// The networks that a point can name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/experiment/point.hpp"
#include "sim/core/kernel/network.hpp"

namespace thinwire::experiment {

/// The platform of a network that needs one, where the user names none: the Ok-Topk paper's.
inline constexpr const char* kDefaultPlatform = "aries_daint";

enum class PlatformUse : std::uint8_t { none, possible, needed };

/// A network that is made and can run a point.
struct ReadyNetwork {
  std::unique_ptr<Network> network;
  /// What the formulas take: the point's, with α and β of the platform end to end where it has one.
  Machine machine;
};

struct NetworkInfo {
  std::string name;
  std::string summary;
  bool has_clock = true;
  /// Flows share links, so that a run may stray from the formula, and none is judged by it.
  bool congests = false;
  PlatformUse platform = PlatformUse::none;
  /// Where there is a platform this loads it: in a child process, as
  /// topologies/loading/platform.hpp says.
  ReadyNetwork (*make)(const Point& point, bool verbose) = nullptr;
};

[[nodiscard]] std::unique_ptr<Network> alphabeta_of(const Machine& machine);

/// The settings that not every network reads and this one does: "platform, placement, ...".
[[nodiscard]] std::string settings_read_on(const std::string& network);
[[nodiscard]] std::vector<NetworkInfo> all_networks();
/// Throws InputError with the nearest name where there is no such network.
[[nodiscard]] NetworkInfo find_network(std::string_view name);

}  // namespace thinwire::experiment
