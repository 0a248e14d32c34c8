// The table of the networks that a point can name.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace thinwire::plan {

/// The default platform of a network that needs one: the platform of the Ok-Topk paper.
inline constexpr const char* kDefaultPlatform = "aries_daint";

/// The last one is of real processes.
enum class NetworkId : std::uint8_t { links, smpi, alphabeta, counting, mpi };

/// Some of the networks; by default all.
class NetworkSet {
 public:
  constexpr NetworkSet() = default;
  constexpr NetworkSet(std::initializer_list<NetworkId> networks) : bits_(0) {
    for (const NetworkId id : networks) bits_ |= bit(id);
  }
  [[nodiscard]] constexpr bool has(NetworkId id) const { return (bits_ & bit(id)) != 0; }
  [[nodiscard]] constexpr int size() const { return std::popcount(bits_); }
  [[nodiscard]] constexpr bool all() const { return bits_ == kAll; }

 private:
  static constexpr unsigned bit(NetworkId id) { return 1U << static_cast<unsigned>(id); }
  static constexpr unsigned kAll = (1U << (static_cast<unsigned>(NetworkId::mpi) + 1)) - 1;

  unsigned bits_ = kAll;
};

enum class PlatformUse : std::uint8_t { none, possible, needed };

struct NetworkInfo {
  NetworkId id = NetworkId::alphabeta;
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

/// The names of the networks.
[[nodiscard]] std::vector<std::string> names_of(NetworkSet networks);
/// The table, built once.
[[nodiscard]] const std::vector<NetworkInfo>& all_networks();
/// Throws InputError with the nearest name if there is no such network.
[[nodiscard]] const NetworkInfo& find_network(std::string_view name);

}  // namespace thinwire::plan
