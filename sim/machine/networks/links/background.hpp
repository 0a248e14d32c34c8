// Background traffic: the bandwidth that other users of a shared machine leave.
#pragma once

#include <functional>
#include <vector>

#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// The bandwidths left to the ranks on `hosts`, in bytes per second, by link of the platform.
/// `is_port` tells which links belong to one rank alone.
///
/// The flows of LinksSettings::background_flows take SimGrid's routes and share the links max-min
/// fairly, without the ranks' messages; a link leaves what they do not use, and at least the share
/// of one more flow. Throws InputError when fewer than two hosts have no rank.
[[nodiscard]] std::vector<double> bandwidths_left(
    const topologies::Platform& platform, const std::vector<topologies::HostIndex>& hosts,
    const LinksSettings& settings, const std::function<bool(topologies::LinkIndex)>& is_port);

/// The rates of flows that share links max-min fairly, each limited by its own demand. Routes are
/// indexed by flow, `bandwidths` by link.
[[nodiscard]] std::vector<double> max_min_rates(
    const std::vector<std::vector<topologies::LinkIndex>>& routes,
    const std::vector<double>& demands, const std::vector<double>& bandwidths);

}  // namespace thinwire::networks
