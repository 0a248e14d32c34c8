// Checks platforms for errors and oddities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

struct Finding {
  enum class Severity : std::uint8_t { problem, warning };
  Severity severity = Severity::problem;
  /// too_few_hosts, no_route, crash, bandwidth, latency, routes (problems); bandwidth of a link that
  /// is too fast, asymmetric, never_used, unclear, passed_over (warnings).
  std::string kind;
  std::string text;
};

/// Checks the routes of all pairs on small platforms, of surveyed ones on large (survey.hpp).
[[nodiscard]] std::vector<Finding> findings_of(const RouteTable& table, const PlatformGraph& graph,
                                               std::optional<int> hosts_wanted);

/// Compares the compact routes between all hosts (compact_routes.hpp) with SimGrid's own.
struct CompactRoutesCheck {
  std::size_t pairs = 0;    ///< compared pairs: all, unless one differed
  std::size_t rows = 0;     ///< classes of sources
  std::size_t columns = 0;  ///< classes of destinations
  std::size_t bytes = 0;    ///< memory in use
  double making_s = 0;      ///< wall-clock time
  double comparison_s = 0;
};

struct PlatformCheck {
  std::vector<Finding> findings;  ///< problems first
  std::size_t hosts = 0;
  std::size_t pairs = 0;  ///< pairs whose routes were checked
  bool all_pairs = false;
  std::optional<CompactRoutesCheck> compact_routes = {};  ///< if requested and built
};

struct PlatformCheckWishes {
  std::optional<int> hosts = {};  ///< required number of hosts
  bool compact_routes = false;    ///< compare them with SimGrid's for every pair
  bool verbose = false;           ///< print SimGrid's log on stderr
};

/// Loads the platform in a child process: a crash of SimGrid on a route is the last finding, which
/// names the hosts. Throws InputError if the platform cannot be loaded.
[[nodiscard]] PlatformCheck check_platform(const std::string& path,
                                           const PlatformCheckWishes& wishes = {});

}  // namespace thinwire::topologies
