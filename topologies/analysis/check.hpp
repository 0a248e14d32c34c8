// What is wrong, or odd, with a platform.
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
  /// too_few_hosts, no_route, crash, bandwidth, latency, routes (problems); asymmetric, never_used,
  /// unclear (warnings).
  std::string kind;
  std::string text;
};

/// Checks the routes of all pairs on small platforms, of the surveyed ones on large (survey.hpp).
[[nodiscard]] std::vector<Finding> findings_of(const RouteTable& table, const PlatformGraph& graph,
                                               std::optional<int> hosts_wanted);

/// The compact routes between all hosts (compact_routes.hpp), compared with SimGrid's own.
struct CompactRoutesCheck {
  std::size_t pairs = 0;    ///< that were compared: all, unless one differed
  std::size_t rows = 0;     ///< classes of sources
  std::size_t columns = 0;  ///< classes of destinations
  std::size_t bytes = 0;    ///< of memory held
  double making_s = 0;      ///< wall-clock time
  double comparison_s = 0;
};

struct PlatformCheck {
  std::vector<Finding> findings;  ///< problems first
  std::size_t hosts = 0;
  std::size_t pairs = 0;  ///< whose routes were checked
  bool all_pairs = false;
  std::optional<CompactRoutesCheck> compact_routes = {};  ///< where they were wanted and made
};

struct PlatformCheckWishes {
  std::optional<int> hosts = {};  ///< at least
  bool compact_routes = false;    ///< compared with SimGrid's on every pair
  bool verbose = false;           ///< SimGrid's log goes to stderr
};

/// Loads the platform in a child process: where SimGrid crashes on a route, that is a finding which
/// names the hosts, and the last one. Throws InputError for what cannot be loaded.
[[nodiscard]] PlatformCheck check_platform(const std::string& path,
                                           const PlatformCheckWishes& wishes = {});

}  // namespace thinwire::topologies
