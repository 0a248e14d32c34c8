#include "topologies/loading/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/random.hpp"
#include "topologies/loading/placement_table.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kPerNode = "per_node:";

/// The seed of "random:SEED".
std::uint64_t seed_of(const std::string& placement) {
  const auto seed = parse_number<std::uint64_t>(std::string_view(placement).substr(kRandom.size()));
  if (!seed) {
    throw InputError(
        "placement '{}': expected random:SEED with a whole number from 0, as in random:1",
        placement);
  }
  return *seed;
}

/// The T of "per_node:T" and "per_node:T@FILE".
std::size_t ranks_per_node(const std::string& placement) {
  const std::string_view behind = std::string_view(placement).substr(kPerNode.size());
  const auto ranks = parse_number<std::uint32_t>(behind.substr(0, behind.find('@')));
  if (!ranks || *ranks == 0) {
    throw InputError(
        "placement '{}': expected per_node:RANKS with a whole number from 1, as in per_node:4",
        placement);
  }
  return *ranks;
}

std::vector<HostIndex> in_order(std::size_t hosts) {
  std::vector<HostIndex> order(hosts);
  std::iota(order.begin(), order.end(), HostIndex{0});
  return order;
}

/// The hosts of each node, in the order in which their nodes come first.
std::vector<std::vector<HostIndex>> hosts_by_node(std::span<const PlatformHost> hosts) {
  std::unordered_map<std::string_view, std::size_t> node_of_name;
  std::vector<std::vector<HostIndex>> nodes;
  for (HostIndex host = 0; host < hosts.size(); ++host) {
    const auto [node, added] = node_of_name.try_emplace(hosts[host].node, nodes.size());
    if (added) nodes.emplace_back();
    nodes[node->second].push_back(host);
  }
  return nodes;
}

std::vector<HostIndex> round_robin(std::span<const PlatformHost> hosts) {
  const std::vector<std::vector<HostIndex>> nodes = hosts_by_node(hosts);
  std::vector<HostIndex> order;
  for (std::size_t turn = 0; order.size() < hosts.size(); ++turn) {
    for (const std::vector<HostIndex>& node : nodes) {
      if (turn < node.size()) order.push_back(node[turn]);
    }
  }
  return order;
}

std::vector<HostIndex> per_node(std::span<const PlatformHost> hosts, std::size_t ranks,
                                std::size_t on_node) {
  const std::vector<std::vector<HostIndex>> nodes = hosts_by_node(hosts);
  if (ranks > nodes.size() * on_node) {
    throw TooFewHostsError("the platform has {} nodes, too few for {} ranks with {} on a node",
                           nodes.size(), ranks, on_node);
  }
  std::vector<HostIndex> order;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<HostIndex>& node = nodes[rank / on_node];
    order.push_back(node[rank % on_node % node.size()]);
  }
  return order;
}

std::vector<HostIndex> shuffled(std::size_t hosts, std::uint64_t seed) {
  std::vector<HostIndex> order = in_order(hosts);
  for (std::size_t left = hosts; left > 1; --left) {
    std::swap(order[left - 1], order[random_bits(seed, left) % left]);
  }
  return order;
}

std::string without_comment(std::string line) {
  line.erase(std::min(line.find('#'), line.size()));
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  line.erase(line.begin(), std::ranges::find_if_not(line, is_space));
  while (!line.empty() && is_space(line.back())) line.pop_back();
  return line;
}

std::vector<HostIndex> from_file(std::span<const PlatformHost> hosts, const std::string& path) {
  std::istringstream file(read_text(path, kMostConfigBytes));
  std::unordered_map<std::string_view, HostIndex> by_name;
  for (HostIndex host = 0; host < hosts.size(); ++host) by_name.emplace(hosts[host].name, host);
  std::vector<HostIndex> order;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string name = without_comment(line);
    if (name.empty()) continue;
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      // Thousands of names help nobody: the nearest, or the range.
      std::vector<std::string> names;
      for (const PlatformHost& host : hosts) names.push_back(host.name);
      std::string hint = did_you_mean(name, names);
      if (names.size() > 8 && hint.starts_with("; known")) {
        hint = fmt::format("; the {} hosts run from '{}' to '{}'", names.size(), names.front(),
                           names.back());
      }
      throw InputError("{}:{}: unknown host '{}'{}", path, number, excerpt(name), hint);
    }
    order.push_back(found->second);
  }
  return order;
}

}  // namespace

std::string placement_file(const std::string& placement) {
  if (placement.starts_with(kPerNode)) {
    const std::size_t at = placement.find('@');
    return at == std::string::npos ? std::string() : placement.substr(at + 1);
  }
  return placement.find_first_of("/.") == std::string::npos ? std::string() : placement;
}

bool is_placement_file(const std::string& placement) {
  return !placement.starts_with(kPerNode) && placement.find_first_of("/.") != std::string::npos;
}

void check_placement(const std::string& placement) {
  if (placement == "block" || placement == "round_robin" || is_placement_file(placement)) return;
  if (placement.starts_with(kRandom)) {
    static_cast<void>(seed_of(placement));
    return;
  }
  if (placement.starts_with(kPerNode)) {
    static_cast<void>(ranks_per_node(placement));
    return;
  }
  const std::vector<std::string> known{"block", "round_robin", "per_node:RANKS", "random:SEED",
                                       "a file (./hosts)"};
  throw InputError("unknown placement '{}'{}", excerpt(placement), did_you_mean(placement, known));
}

std::vector<HostIndex> place(std::span<const PlatformHost> hosts, int ranks,
                             const std::string& placement) {
  check_placement(placement);
  if (ranks < 0) throw InputError("{} ranks cannot be placed", ranks);
  const auto wanted = static_cast<std::size_t>(ranks);
  const bool file = is_placement_file(placement);
  if (placement.starts_with(kPerNode) && !placement_file(placement).empty()) {
    return place_some_by_table(hosts, ranks, ranks_per_node(placement), placement_file(placement));
  }
  if (file && is_placement_table(placement)) return place_by_table(hosts, ranks, placement);
  if (!file && placement.starts_with(kPerNode)) {
    return per_node(hosts, wanted, ranks_per_node(placement));
  }
  std::vector<HostIndex> order;
  if (file) {
    order = from_file(hosts, placement);
  } else if (placement == "round_robin") {
    order = round_robin(hosts);
  } else if (placement == "block") {
    order = in_order(hosts.size());
  } else {
    order = shuffled(hosts.size(), seed_of(placement));
  }
  if (order.size() < wanted) {
    throw TooFewHostsError(file ? fmt::format("{}: names {} hosts, fewer than the {} ranks",
                                              placement, order.size(), wanted)
                                : fmt::format("the platform has {} hosts, fewer than the {} ranks",
                                              order.size(), wanted));
  }
  order.resize(wanted);
  return order;
}

}  // namespace thinwire::topologies
