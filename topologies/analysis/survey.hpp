// Selects the pairs of hosts whose routes are queried: all pairs on small platforms; on large ones
// as many as are needed to see every link, so that thousands of hosts take seconds.
//
// On a large platform, hosts are classified by their switch, and these routes are queried: each
// host with its neighbours in the list and the other hosts of its node; one host of each class with
// one of each other class; the latter with all hosts; and random pairs as long as they show new
// links. All pairs are queried in both directions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "topologies/loading/route_table.hpp"

namespace thinwire::topologies {

/// Latencies in seconds differ by rounding if the same links are added in another order.
inline constexpr double kSameLatency = 1e-12;

struct SurveyLimits {
  std::size_t all_pairs_up_to = 1000;  ///< hosts
  std::size_t most_pairs = 3'000'000;  ///< on larger platforms
};

struct SurveyedPair {
  HostIndex from;
  HostIndex to;
  std::uint32_t hops;  ///< number of links on the route
  double latency_s;
};

struct Survey {
  std::vector<SurveyedPair> pairs;  ///< pairs with a route, sorted by source and destination
  std::vector<std::pair<HostIndex, HostIndex>> unreachable;  ///< in query order
  bool all_pairs = false;
  std::vector<bool> used;      ///< by link: is on a route between two hosts
  std::vector<bool> loopback;  ///< by link: is only on routes of a host to itself
};

/// The callbacks of a survey: `route` receives every route between two hosts that is queried;
/// `class_of` returns the class of a host, any number that is equal for hosts on one switch.
struct SurveyVisitor {
  std::function<void(HostIndex from, HostIndex to, const Route& route)> route;
  std::function<std::size_t(HostIndex host)> class_of;
};

[[nodiscard]] Survey survey_routes(const RouteTable& table, const SurveyLimits& limits,
                                   const SurveyVisitor& visitor);

}  // namespace thinwire::topologies
