// Which pairs of hosts are asked for their routes: all of them on small platforms; on large ones
// as many as it takes to see every link, so that thousands of hosts take seconds.
//
// On a large platform, hosts are put into classes by the switch that they hang on, and routes are
// asked for: each host with its neighbours in the list and the other hosts of its node; one host of
// each class with one of each other class; these with all hosts; and as long as this shows new
// links, pairs at random. Always both ways.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "topologies/loading/routes.hpp"

namespace thinwire::topologies {

/// Latencies in seconds differ by rounding when the same links are added in another order.
inline constexpr double kSameLatency = 1e-12;

struct SurveyLimits {
  std::size_t all_pairs_up_to = 1000;  ///< hosts
  std::size_t most_pairs = 3'000'000;  ///< on larger platforms
};

struct SurveyedPair {
  HostIndex from;
  HostIndex to;
  std::uint32_t hops;  ///< links of the route
  double latency_s;
};

struct Survey {
  std::vector<SurveyedPair> pairs;  ///< that have a route, by source and destination
  std::vector<std::pair<HostIndex, HostIndex>>
      unreachable;  ///< in the order in which they were met
  bool all_pairs = false;
  std::vector<bool> used;      ///< by link: is on a route between two hosts
  std::vector<bool> loopback;  ///< by link: is only on the way of a host to itself
};

/// Called with every route between two hosts that is met, and asked for the class of a host, which
/// may be any number that is equal for hosts on one switch.
struct SurveyVisitor {
  std::function<void(HostIndex from, HostIndex to, const Route& route)> route;
  std::function<std::size_t(HostIndex host)> class_of;
};

[[nodiscard]] Survey survey_routes(const RouteTable& table, const SurveyLimits& limits,
                                   const SurveyVisitor& visitor);

}  // namespace thinwire::topologies
