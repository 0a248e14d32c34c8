// Computes metrics of a platform's graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

/// The distances between hosts, and a comparison of SimGrid's routes with the shortest paths of the
/// graph. A hop is a link, including a switch's backbone.
struct Distances {
  std::size_t diameter_hops = 0;  ///< longest shortest path between two hosts
  Seconds diameter_latency;       ///< largest minimal latency between two hosts
  std::size_t routes = 0;         ///< routes compared; see survey.hpp
  double route_hops_mean = 0;
  std::size_t route_hops_max = 0;
  Seconds route_latency_mean;
  Seconds route_latency_min;
  Seconds route_latency_max;
  std::size_t longer_routes = 0;  ///< more hops than the shortest path
  std::size_t extra_hops_max = 0;
  std::size_t slower_routes = 0;  ///< more latency than the path of minimal latency
  Seconds extra_latency_max;
  /// The number of sources from which minimal latencies were computed; in larger graphs the sources
  /// are a uniform sample, and diameter_latency and slower_routes refer to it alone.
  std::size_t latency_sources = 0;
  bool all_latency_sources = true;
};

/// Pairs of hosts that cannot reach each other are ignored.
[[nodiscard]] Distances distances_of(const PlatformGraph& platform);

/// The bandwidth between two halves of the hosts: the maximum flow from all hosts of one half to
/// all hosts of the other, in bytes per second. A host sends no more than its links carry. Nothing
/// if a fat pipe makes it unlimited, or if there are fewer than two hosts.
struct Bisection {
  /// The hosts in order, the first half (the larger one if odd) against the second.
  std::optional<double> in_order;
  /// The minimum over random halves of the nodes: hosts of one node stay together.
  std::optional<double> random_least;
  std::size_t random_halves = 0;
};

[[nodiscard]] Bisection bisection_of(const PlatformGraph& platform,
                                     std::span<const PlatformHost> hosts,
                                     std::size_t random_halves = 3, std::uint64_t seed = 1);

/// The maximum flow from the hosts of one set to the hosts of the other, as above.
[[nodiscard]] std::optional<double> max_flow(const PlatformGraph& platform,
                                             const std::vector<HostIndex>& from,
                                             const std::vector<HostIndex>& to);

}  // namespace thinwire::topologies
