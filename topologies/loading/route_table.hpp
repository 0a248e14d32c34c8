// The routes of a platform, as graphs and metrics ask for them: by pair, and without a complaint
// where there is none.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

struct RouteTable {
  std::span<const PlatformHost> hosts;
  std::span<const PlatformLink> links;
  /// The links from one host to another, weights left out; nothing where there is no route.
  std::function<std::optional<Route>(HostIndex from, HostIndex to)> route;
};

/// The routes of a loaded platform, which must outlive the table.
[[nodiscard]] RouteTable routes_of(const Platform& platform);

}  // namespace thinwire::topologies
