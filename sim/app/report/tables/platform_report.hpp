// Describes a platform and the load of its links as text, in every format.
#pragma once

#include <string>

#include "sim/app/report/tables/formats.hpp"
#include "topologies/analysis/graph.hpp"
#include "topologies/analysis/traffic.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::report {

/// The hosts, links, distances and bisection bandwidth.
[[nodiscard]] std::string platform_text(const View& view, const topologies::Platform& platform,
                                        const topologies::PlatformGraph& graph);
/// The links of a route, with the sum of the latencies up to each.
[[nodiscard]] std::string route_text(const View& view, const topologies::Platform& platform,
                                     const topologies::Route& route);
/// The load of each link; a table shows only the `top` busiest.
[[nodiscard]] std::string loads_text(const View& view, const topologies::Platform& platform,
                                     const topologies::Loads& loads, std::size_t top);

}  // namespace thinwire::report
