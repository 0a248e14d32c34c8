// The user settings of network links.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/base/units.hpp"

namespace thinwire::networks {

/// The routing of messages. All but minimal differ from SimGrid, which has one route per pair.
enum class LinkRouting : std::uint8_t {
  minimal,  ///< SimGrid's route
  valiant,  ///< through the switch of a random host, drawn for each message (Valiant 1982)
  ugal,     ///< minimal, or the best of a few of Valiant's routes, by the backlog of their links
            ///< (universal globally adaptive load-balanced: Singh 2005; Kim et al., ISCA 2008)
  ecmp      ///< equal-cost multi-path: a route to the receiver's switch, by hash of the pair
};
inline constexpr std::array<std::string_view, 4> kLinkRoutings{"minimal", "valiant", "ugal",
                                                               "ecmp"};

/// How messages cross the links of a platform, and what is recorded.
struct LinksSettings {
  /// Messages up to this size do not wait for their receiver; their send is complete after the time
  /// that an uncontended message takes to leave. The machine's setting.
  Bytes eager{0};
  LinkRouting routing = LinkRouting::minimal;
  /// Other users take this share of every link between the ports; 0 to below 1.
  double background_share = 0;
  /// Every host without a rank permanently sends to another such host, by a random permutation, at
  /// this share of its port's bandwidth. 0 to 1.
  double background_flows = 0;
  std::uint64_t seed = 1;     ///< of all random draws here
  bool record_links = false;  ///< fill RunReport::links
  bool verbose = false;       ///< SimGrid's log, from loading the platform, goes to stderr

  friend bool operator==(const LinksSettings&, const LinksSettings&) = default;
};

}  // namespace thinwire::networks
