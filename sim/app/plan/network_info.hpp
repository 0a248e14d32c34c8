// The table of the networks that a point can name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thinwire::plan {

/// The default platform of a network that needs one: that of the Ok-Topk paper.
inline constexpr const char* kDefaultPlatform = "aries_daint";

enum class PlatformUse : std::uint8_t { none, possible, needed };

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
};

/// The settings that this network reads but not every network does: "platform, placement, ...".
[[nodiscard]] std::string settings_read_on(const std::string& network);
/// The table, built once.
[[nodiscard]] const std::vector<NetworkInfo>& all_networks();
/// Throws InputError with the nearest name if there is no such network.
[[nodiscard]] const NetworkInfo& find_network(std::string_view name);

}  // namespace thinwire::plan
