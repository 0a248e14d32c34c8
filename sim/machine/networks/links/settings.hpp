// The user settings of the network `links`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/machine/networks/common/host.hpp"
#include "topologies/loading/platform_factors.hpp"

namespace thinwire::networks {

/// The routing of messages. Only `minimal` exists in SimGrid, which has one route per pair of
/// hosts.
enum class LinkRouting : std::uint8_t {
  minimal,  ///< SimGrid's route
  valiant,  ///< through the switch of a random host, drawn for each message (Valiant 1982)
  ugal,     ///< the minimal route or one of a few Valiant routes, chosen by the backlog of links
            ///< (universal globally adaptive load-balanced: Singh 2005; Kim et al., ISCA 2008)
  ecmp      ///< equal-cost multi-path: a hash of the pair chooses a route to the receiver's switch
};
inline constexpr std::array<std::string_view, 4> kLinkRoutings{"minimal", "valiant", "ugal",
                                                               "ecmp"};

/// How messages cross the links of a platform, and what is recorded.
struct LinksSettings {
  HostCosts host = {};  ///< these are settings of the group `machine`
  LinkRouting routing = LinkRouting::minimal;
  /// The share of every link between the ports that other jobs use; 0 to below 1.
  double background_share = 0;
  /// Every host without a rank sends to another such host during the whole run, at this share of
  /// the bandwidth of its port. A random permutation determines the receivers. 0 to 1.
  double background_flows = 0;
  /// Links that have lost capacity, "NAME=SHARE,...": the share of the bandwidth that is left.
  std::string slow_links = {};
  std::uint64_t seed = 1;     ///< seed of all random draws of this network
  bool record_links = false;  ///< whether to fill RunReport::links
  int representatives = 0;    ///< ranks that run, the first of those placed, or 0: all
  topologies::PlatformFactors factors = {};
  /// The number of routes between hosts that are found before the run. If there are more, each is found
  /// when it is needed, unless routing, background or record_links need all of them; representatives
  /// have routes of their own. The default takes about half a minute and 240 MB. Times do not depend on
  /// it beyond rounding, but for schemes that wait for the first of several requests and eager
  /// messages or noise (docs/decisions/0032-routes-on-demand.md).
  std::size_t routes_held = 20'000'000;
  bool verbose = false;  ///< whether SimGrid's log of loading the platform goes to stderr

  friend bool operator==(const LinksSettings&, const LinksSettings&) = default;
};

}  // namespace thinwire::networks
