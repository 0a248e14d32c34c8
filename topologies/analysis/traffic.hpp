// Traffic matrices, and the load that they put on each link.
//
//   all_to_all   every rank to every other
//   ring         rank r to rank r + 1, the last to the first
//   rotation:S   rank r to rank r + S, modulo P: one step of a rotated all-to-all
//   a file       CSV with a line "from,to,bytes" per message, hosts by name; a first line with just
//                these words and '#' comments are skipped. A name with a '/' or a '.' is a file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "topologies/loading/route_table.hpp"

namespace thinwire::topologies {

struct Transfer {
  HostIndex from;
  HostIndex to;
  double bytes;
};

/// Calls `visit` for each message of a traffic matrix between ranks on these hosts, each of `bytes`
/// unless the file gives its size. Messages of a host to itself are omitted. Throws InputError for
/// a traffic or a host that does not exist.
void for_each_transfer(const std::string& traffic, std::span<const PlatformHost> hosts,
                       std::span<const HostIndex> ranks, double bytes,
                       const std::function<void(const Transfer&)>& visit);

struct LinkLoad {
  LinkIndex link = 0;
  std::int64_t messages = 0;
  double bytes = 0;
  /// The time that the link needs for its bytes alone. Messages share a fat pipe without
  /// contention.
  Seconds time;
};

struct Loads {
  std::vector<LinkLoad> links;  ///< links that carry data, the busiest (most time) first
  std::int64_t messages = 0;
  double bytes = 0;
};

/// Throws InputError if two hosts have no route.
[[nodiscard]] Loads link_loads(const RouteTable& table, const std::string& traffic,
                               std::span<const HostIndex> ranks, double bytes);

}  // namespace thinwire::topologies
