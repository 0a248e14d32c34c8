#include "topologies/analysis/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::string_view kRotation = "rotation:";

using Visit = std::function<void(const Transfer&)>;

void rotate(std::span<const HostIndex> ranks, std::size_t distance, double bytes,
            const Visit& visit) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    visit({ranks[rank], ranks[(rank + distance) % ranks.size()], bytes});
  }
}

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

/// The three cells of a line, or nothing.
std::optional<std::array<std::string_view, 3>> cells_of(std::string_view line) {
  std::array<std::string_view, 3> cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t comma = line.find(',');
    const bool last = i + 1 == cells.size();
    if (last != (comma == std::string_view::npos)) return std::nullopt;
    cells[i] = trimmed(line.substr(0, comma));
    if (!last) line.remove_prefix(comma + 1);
  }
  return cells;
}

void read_file(const std::string& path, std::span<const PlatformHost> hosts, const Visit& visit) {
  std::istringstream file(read_text(path));
  std::unordered_map<std::string_view, HostIndex> by_name;
  for (HostIndex host = 0; host < hosts.size(); ++host) by_name.emplace(hosts[host].name, host);
  std::string line;
  bool first = true;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const auto cells = cells_of(text);
    const bool heading = first && cells && (*cells)[0] == "from" && (*cells)[1] == "to";
    first = false;
    if (heading) continue;
    const std::optional<double> bytes = cells ? parse_number<double>((*cells)[2]) : std::nullopt;
    if (!bytes || !std::isfinite(*bytes) || *bytes < 0) {
      throw InputError("{}:{}: '{}' is not valid; expected from,to,bytes, as in {},{},1e6", path,
                       number, excerpt(text), hosts.empty() ? "a" : hosts.front().name,
                       hosts.empty() ? "b" : hosts.back().name);
    }
    std::array<HostIndex, 2> ends{};
    for (std::size_t end = 0; end < ends.size(); ++end) {
      const auto host = by_name.find((*cells)[end]);
      if (host == by_name.end()) {
        throw InputError("{}:{}: unknown host '{}'", path, number, excerpt((*cells)[end]));
      }
      ends[end] = host->second;
    }
    visit({ends[0], ends[1], *bytes});
  }
}

}  // namespace

void for_each_transfer(const std::string& traffic, std::span<const PlatformHost> hosts,
                       std::span<const HostIndex> ranks, double bytes, const Visit& visit) {
  const Visit between_two = [&](const Transfer& transfer) {
    if (transfer.from != transfer.to) visit(transfer);
  };
  if (traffic == "all_to_all") {
    for (std::size_t step = 1; step < ranks.size(); ++step) rotate(ranks, step, bytes, between_two);
  } else if (traffic == "ring") {
    rotate(ranks, 1, bytes, between_two);
  } else if (traffic.starts_with(kRotation)) {
    const auto distance =
        parse_number<std::uint32_t>(std::string_view(traffic).substr(kRotation.size()));
    if (!distance) {
      throw InputError(
          "traffic '{}': expected rotation:S with a whole number from 0, as in rotation:1",
          traffic);
    }
    rotate(ranks, *distance, bytes, between_two);
  } else if (traffic.find_first_of("/.") != std::string::npos) {
    read_file(traffic, hosts, between_two);
  } else {
    const std::vector<std::string> known{"all_to_all", "ring", "rotation:S", "a file (./t.csv)"};
    throw InputError("unknown traffic '{}'{}", excerpt(traffic), did_you_mean(traffic, known));
  }
}

Loads link_loads(const RouteTable& table, const std::string& traffic,
                 std::span<const HostIndex> ranks, double bytes) {
  std::vector<LinkLoad> loads(table.links.size());
  std::vector<double> largest(table.links.size());
  Loads result;
  for_each_transfer(traffic, table.hosts, ranks, bytes, [&](const Transfer& transfer) {
    const std::optional<Route> route = table.route(transfer.from, transfer.to);
    if (!route) {
      throw InputError("there is no route from {} to {}", table.hosts[transfer.from].name,
                       table.hosts[transfer.to].name);
    }
    ++result.messages;
    result.bytes += transfer.bytes;
    for (const LinkIndex link : route->links) {
      ++loads[link].messages;
      loads[link].bytes += transfer.bytes;
      largest[link] = std::max(largest[link], transfer.bytes);
    }
  });
  for (LinkIndex link = 0; link < loads.size(); ++link) {
    if (loads[link].messages == 0) continue;
    const PlatformLink& figures = table.links[link];
    loads[link].link = link;
    loads[link].time =
        Seconds((figures.fat_pipe ? largest[link] : loads[link].bytes) / figures.bandwidth);
    result.links.push_back(loads[link]);
  }
  std::ranges::stable_sort(result.links, std::ranges::greater{}, &LinkLoad::time);
  return result;
}

}  // namespace thinwire::topologies
