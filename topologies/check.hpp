// What is wrong, or odd, with a platform.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/graph.hpp"

namespace thinwire {

struct Finding {
  enum class Severity : std::uint8_t { problem, warning };
  Severity severity = Severity::problem;
  /// too_few_hosts, no_route, crash, bandwidth, latency (problems); asymmetric, never_used,
  /// unclear (warnings).
  std::string kind;
  std::string text;
};

/// Checks the routes of all pairs on small platforms, of the surveyed ones on large (survey.hpp).
[[nodiscard]] std::vector<Finding> findings_of(const RouteTable& table, const PlatformGraph& graph,
                                               std::optional<int> hosts_wanted);

struct PlatformCheck {
  std::vector<Finding> findings;  ///< problems first
  std::size_t hosts = 0;
  std::size_t pairs = 0;  ///< whose routes were checked
  bool all_pairs = false;
};

/// Loads the platform in a child process: where SimGrid crashes on a route, that is a finding which
/// names the hosts, and the last one. Throws InputError for what cannot be loaded.
[[nodiscard]] PlatformCheck check_platform(const std::string& path, std::optional<int> hosts_wanted,
                                           bool verbose = false);

}  // namespace thinwire
