// What a platform's graph says of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

/// How far hosts are from each other, and how SimGrid's routes compare with the shortest paths of
/// the graph. A hop is a link; a switch's backbone is one.
struct Distances {
  std::size_t diameter_hops = 0;  ///< longest of the shortest paths between two hosts
  Seconds diameter_latency;       ///< largest of the least latencies between two hosts
  std::size_t routes = 0;         ///< that were compared; see survey.hpp
  double route_hops_mean = 0;
  std::size_t route_hops_max = 0;
  Seconds route_latency_mean;
  Seconds route_latency_min;
  Seconds route_latency_max;
  std::size_t longer_routes = 0;  ///< with more hops than the shortest path
  std::size_t extra_hops_max = 0;
  std::size_t slower_routes = 0;  ///< with more latency than the path of the least
  Seconds extra_latency_max;
  /// Starting points from which least latencies were computed; on graphs with more than that, they
  /// are spread evenly, and diameter_latency and slower_routes are of these alone.
  std::size_t latency_sources = 0;
  bool all_latency_sources = true;
};

/// Hosts that cannot reach each other count in no figure.
[[nodiscard]] Distances distances_of(const PlatformGraph& platform);

/// Bandwidth from one half of the hosts to the other: the maximum flow from all hosts of the one to
/// all hosts of the other, in bytes a second. A host sends no more than its links carry. Nothing
/// where a fat pipe makes it unlimited, or where there are fewer than two hosts.
struct Bisection {
  /// Hosts in order, the first half (one more where odd) against the second.
  std::optional<double> in_order;
  /// The least over some halves of shuffled nodes: hosts of one node stay together.
  std::optional<double> random_least;
  std::size_t random_halves = 0;
};

[[nodiscard]] Bisection bisection_of(const PlatformGraph& platform,
                                     std::span<const PlatformHost> hosts,
                                     std::size_t random_halves = 3, std::uint64_t seed = 1);

/// The maximum flow from the hosts of one set to those of the other, as above.
[[nodiscard]] std::optional<double> max_flow(const PlatformGraph& platform,
                                             const std::vector<HostIndex>& from,
                                             const std::vector<HostIndex>& to);

}  // namespace thinwire::topologies
