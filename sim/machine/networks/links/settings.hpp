// What a user of network links can choose.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/base/units.hpp"

namespace thinwire::networks {

/// Which way a message takes. All but minimal differ from SimGrid, which knows one way a pair.
enum class LinkRouting : std::uint8_t {
  minimal,  ///< SimGrid's route
  valiant,  ///< by way of the switch of a random host, drawn for each message (Valiant 1982)
  ugal,     ///< minimal, or the best of a few of Valiant's, by what their links have to do
            ///< (universal globally adaptive load-balanced: Singh 2005; Kim et al., ISCA 2008)
  ecmp  ///< equal cost multi-path: one of the ways to the receiver's switch, by hash of the pair
};
inline constexpr std::array<std::string_view, 4> kLinkRoutings{"minimal", "valiant", "ugal",
                                                               "ecmp"};

/// How messages cross the links of a platform, and what is recorded.
struct LinksSettings {
  /// Messages up to this size do not wait for their receiver, and are sent when they could have
  /// left alone.
  Bytes eager{0};
  /// Ports share their bandwidth among messages even where they are all that there is to share.
  bool fair_ports = false;
  LinkRouting routing = LinkRouting::minimal;
  /// Others use this share of every link between the ports; 0 to below 1.
  double background_share = 0;
  /// Every host without a rank sends to another one without, all the time, this share of what its
  /// port could; who sends to whom is a random permutation. 0 to 1.
  double background_flows = 0;
  std::uint64_t seed = 1;     ///< of all that is random here
  bool record_links = false;  ///< fill RunReport::links
  bool verbose = false;       ///< SimGrid's log, of loading the platform, goes to stderr

  friend bool operator==(const LinksSettings&, const LinksSettings&) = default;
};

}  // namespace thinwire::networks
