// Who sends how much to whom, and what that puts on each link.
//
//   all_to_all   every rank to every other
//   ring         rank r to rank r + 1, the last to the first
//   rotation:S   rank r to rank r + S, round the end: one step of a rotated all-to-all
//   a file       CSV with a line "from,to,bytes" for each message, hosts by name; a first line that
//                says just that, and '#' comments, are passed by. What has a '/' or a '.' is taken
//                for a file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "topologies/loading/routes.hpp"

namespace thinwire::topologies {

struct Transfer {
  HostIndex from;
  HostIndex to;
  double bytes;
};

/// Calls `visit` for each message of a traffic matrix between ranks on these hosts, each of `bytes`
/// unless the file says so. Messages of a host to itself are left out. Throws InputError for a
/// traffic or a host that nobody knows.
void for_each_transfer(const std::string& traffic, std::span<const PlatformHost> hosts,
                       std::span<const HostIndex> ranks, double bytes,
                       const std::function<void(const Transfer&)>& visit);

struct LinkLoad {
  LinkIndex link = 0;
  std::int64_t messages = 0;
  double bytes = 0;
  /// Time that the link needs for its bytes alone. Through a fat pipe they go all at once.
  Seconds time;
};

struct Loads {
  std::vector<LinkLoad> links;  ///< that carry something, the hottest (most time) first
  std::int64_t messages = 0;
  double bytes = 0;
};

/// Throws InputError where two hosts have no route.
[[nodiscard]] Loads link_loads(const RouteTable& table, const std::string& traffic,
                               std::span<const HostIndex> ranks, double bytes);

}  // namespace thinwire::topologies
