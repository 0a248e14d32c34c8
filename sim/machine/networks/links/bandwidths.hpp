// The bandwidth that a machine has left: background traffic, and links that have lost capacity.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/machine/networks/links/settings.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// The bandwidths left to the ranks on `hosts`, in bytes per second, by link of the platform.
/// `is_port` tells which links belong to one rank alone.
///
/// The flows of LinksSettings::background_flows take SimGrid's routes and share the links by
/// max-min fairness, as if the ranks sent no messages. On each link, the ranks get the bandwidth
/// that the flows do not use, but at least the share that one additional flow would get. Throws
/// InputError when fewer than two hosts have no rank, and for slow links that the platform has not.
[[nodiscard]] std::vector<double> bandwidths_left(
    const topologies::Platform& platform, const std::vector<topologies::HostIndex>& hosts,
    const LinksSettings& settings, const std::function<bool(topologies::LinkIndex)>& is_port);

/// Throws InputError if this is no list "NAME=SHARE,..." with shares above 0, at most 1.
void check_slow_links(const std::string& slow_links);

/// The rates of flows that share links by max-min fairness. The rate of a flow is at most its
/// demand. `routes` and `demands` are indexed by flow, `bandwidths` by link.
[[nodiscard]] std::vector<double> max_min_rates(
    const std::vector<std::vector<topologies::LinkIndex>>& routes,
    const std::vector<double>& demands, const std::vector<double>& bandwidths);

}  // namespace thinwire::networks
