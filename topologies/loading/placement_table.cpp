#include "topologies/loading/placement_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::topologies {

namespace {

/// The place of a rank, in a row of the file.
struct Seating {
  std::size_t row = 0;
  std::string node;
  std::string group;   ///< empty: the file has no such column
  std::string access;  ///< the switch, likewise
};

/// The switch of a place on a Cray EX, chassis, slot and board as in c6s7b1: the boards of a chassis
/// with one number hang on one switch. Other names name switches.
std::string switch_of(const std::string& place) {
  static const std::regex kBoard("^(c[0-9]+)s[0-9]+(b[0-9]+)$");
  return std::regex_replace(place, kBoard, "$1$2");
}

bool is_content(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string::npos && line[first] != '#';
}

class PlacementTable {
 public:
  explicit PlacementTable(const std::string& path)
      : path_(path), table_(read_text(path, kMostConfigBytes), path) {
    read();
  }

  std::vector<HostIndex> place(std::span<const PlatformHost> hosts, std::size_t ranks) {
    if (rows_.size() < ranks) {
      throw TooFewHostsError("{}:1: places {} ranks, fewer than the {} of the run", last_line(),
                             rows_.size(), ranks);
    }
    rows_.resize(ranks);
    std::unordered_map<std::string, std::vector<HostIndex>> by_name;
    bool groups = true;
    for (HostIndex host = 0; host < hosts.size(); ++host) {
      by_name[hosts[host].node].push_back(host);
      groups = groups && hosts[host].group != PlatformHost::kNoGroup;
    }
    for (HostIndex host = 0; host < hosts.size(); ++host) by_name[hosts[host].name] = {host};
    const bool strange =
        std::ranges::none_of(rows_, [&](const Seating& row) { return by_name.contains(row.node); });
    const bool grouped = table_.has("group");
    if (strange && groups && grouped) return place_by_group(hosts);
    return strange ? place_in_order(hosts) : place_by_name(hosts, by_name);
  }

  /// Leaves the first `on_node` ranks of each node.
  void thin(std::size_t on_node) {
    std::unordered_map<std::string, std::size_t> ranks_on;
    std::erase_if(rows_, [&](const Seating& row) { return ranks_on[row.node]++ >= on_node; });
  }

 private:
  [[nodiscard]] std::string last_line() const {
    return table_.rows() == 0 ? path_ + ":1" : table_.place(table_.rows() - 1);
  }

  void read() {
    table_.require({"rank", "node"});
    const auto cell = [&](std::size_t row, const std::string& column) {
      if (!table_.has(column)) return std::string();
      const std::string& text = table_.text(row, column);
      if (text.empty()) table_.refuse(row, column, fmt::format("the {} is empty", column));
      return text;
    };
    const auto last = static_cast<std::int64_t>(table_.rows()) - 1;
    std::vector<std::optional<Seating>> by_rank(table_.rows());
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      auto& seating = by_rank[static_cast<std::size_t>(table_.whole(row, "rank", 0, last))];
      if (seating)
        table_.refuse(row, "rank", fmt::format("rank {} is there twice", table_.text(row, "rank")));
      seating = {.row = row,
                 .node = cell(row, "node"),
                 .group = cell(row, "group"),
                 .access = switch_of(cell(row, "switch"))};
    }
    // Each rank up to the last is there, since none is there twice.
    for (std::optional<Seating>& seating : by_rank) rows_.push_back(std::move(*seating));
  }

  std::vector<HostIndex> place_by_name(
      std::span<const PlatformHost> hosts,
      const std::unordered_map<std::string, std::vector<HostIndex>>& by_name) const {
    std::vector<HostIndex> placed;
    std::unordered_map<std::string_view, std::size_t> ranks_on;
    for (const Seating& row : rows_) {
      const auto found = by_name.find(row.node);
      if (found == by_name.end()) refuse_node(hosts, row);
      placed.push_back(found->second[ranks_on[row.node]++ % found->second.size()]);
    }
    return placed;
  }

  /// The file's nodes are the platform's nodes, in the order in which both come.
  std::vector<HostIndex> place_in_order(std::span<const PlatformHost> hosts) const {
    std::vector<std::vector<HostIndex>> nodes;
    std::unordered_map<std::string_view, std::size_t> of_platform;
    for (HostIndex host = 0; host < hosts.size(); ++host) {
      const auto [node, is_new] = of_platform.try_emplace(hosts[host].node, nodes.size());
      if (is_new) nodes.emplace_back();
      nodes[node->second].push_back(host);
    }
    std::unordered_map<std::string_view, std::size_t> of_file;
    std::unordered_map<std::string_view, std::size_t> ranks_on;
    std::vector<HostIndex> placed;
    for (const Seating& row : rows_) {
      const std::size_t node = of_file.try_emplace(row.node, of_file.size()).first->second;
      if (node >= nodes.size()) {
        throw TooFewHostsError("{}: names more nodes than the {} of the platform", path_,
                               nodes.size());
      }
      placed.push_back(nodes[node][ranks_on[row.node]++ % nodes[node].size()]);
    }
    return placed;
  }

  [[noreturn]] void refuse_node(std::span<const PlatformHost> hosts, const Seating& row) const {
    std::vector<std::string> names;
    for (const PlatformHost& host : hosts) {
      names.push_back(host.name);
      if (host.node != host.name && (names.size() < 2 || names[names.size() - 2] != host.node)) {
        names.push_back(host.node);
      }
    }
    std::string hint = did_you_mean(row.node, names);
    if (names.size() > 8 && hint.starts_with("; known")) {
      hint = fmt::format("; the {} hosts run from '{}' to '{}'", hosts.size(), hosts.front().name,
                         hosts.back().name);
    }
    table_.refuse(row.row, "node", fmt::format("unknown host '{}'{}", excerpt(row.node), hint));
  }

  /// Nodes of a platform: hosts by group, access switch and node.
  using Nodes = std::vector<std::vector<std::vector<std::vector<HostIndex>>>>;

  /// How many nodes of a switch have ranks, by group and switch.
  using Used = std::map<std::pair<std::size_t, std::size_t>, std::size_t>;

  static Nodes nodes_of(std::span<const PlatformHost> hosts) {
    Nodes nodes;
    for (const PlatformHost& host : hosts) {
      if (host.group >= nodes.size()) nodes.resize(host.group + 1);
      if (host.access >= nodes[host.group].size()) nodes[host.group].resize(host.access + 1);
    }
    std::unordered_map<std::string_view, std::size_t> place;  // of a node, on its switch
    for (HostIndex host = 0; host < hosts.size(); ++host) {
      auto& of_switch = nodes[hosts[host].group][hosts[host].access];
      const auto [found, is_new] = place.try_emplace(hosts[host].node, of_switch.size());
      if (is_new) of_switch.emplace_back();
      of_switch[found->second].push_back(host);
    }
    return nodes;
  }

  /// Numbers texts in the order in which they come.
  struct Numbering {
    std::map<std::string, std::size_t, std::less<>> numbers = {};

    std::size_t operator()(const std::string& text) {
      return numbers.try_emplace(text, numbers.size()).first->second;
    }
  };

  std::vector<HostIndex> place_by_group(std::span<const PlatformHost> hosts) const {
    const Nodes nodes = nodes_of(hosts);
    const bool one_switch =
        std::ranges::all_of(nodes, [](const auto& group) { return group.size() == 1; });
    struct Seat {
      std::string group;
      const std::vector<HostIndex>* hosts = nullptr;
      std::size_t ranks = 0;
    };
    std::unordered_map<std::string_view, Seat> seats;  // of the file's nodes
    Numbering groups;
    std::map<std::size_t, Numbering> switches;  // by group
    Used used;
    std::vector<HostIndex> placed;
    for (const Seating& row : rows_) {
      Seat& seat = seats[row.node];
      if (seat.hosts == nullptr) {
        seat.group = row.group;
        const std::size_t group = groups(row.group);
        if (group >= nodes.size()) {
          table_.refuse(row.row, "group",
                        fmt::format("group '{}' is one too many: the platform has {} groups",
                                    row.group, nodes.size()));
        }
        seat.hosts = !row.access.empty() && !one_switch
                         ? &on_switch(nodes, group, switches[group], used, row)
                         : &in_group(nodes, group, used, row);
      }
      if (seat.group != row.group) {
        table_.refuse(row.row, "group",
                      fmt::format("node '{}' is in group '{}' and in group '{}'", row.node,
                                  seat.group, row.group));
      }
      placed.push_back((*seat.hosts)[seat.ranks++ % seat.hosts->size()]);
    }
    return placed;
  }

  /// The next node on the switch that a row names.
  const std::vector<HostIndex>& on_switch(const Nodes& nodes, std::size_t group,
                                          Numbering& switches, Used& used,
                                          const Seating& row) const {
    const std::size_t access = switches(row.access);
    if (access >= nodes[group].size()) {
      table_.refuse(
          row.row, "switch",
          fmt::format("switch '{}' is one too many in group '{}': a group of the platform has "
                      "{} switches",
                      row.access, row.group, nodes[group].size()));
    }
    const auto& of_switch = nodes[group][access];
    std::size_t& next = used[{group, access}];
    if (next == of_switch.size()) {
      table_.refuse(
          row.row, "node",
          fmt::format("node '{}' is one too many on switch '{}' of group '{}': a switch of the "
                      "platform has {} nodes",
                      row.node, row.access, row.group, of_switch.size()));
    }
    return of_switch[next++];
  }

  /// The next node of the group that a row names.
  const std::vector<HostIndex>& in_group(const Nodes& nodes, std::size_t group, Used& used,
                                         const Seating& row) const {
    std::size_t all = 0;
    for (std::size_t access = 0; access < nodes[group].size(); ++access) {
      std::size_t& next = used[{group, access}];
      if (next < nodes[group][access].size()) return nodes[group][access][next++];
      all += next;
    }
    table_.refuse(row.row, "node",
                  fmt::format("node '{}' is one too many in group '{}': a group of the platform "
                              "has {} nodes",
                              row.node, row.group, all));
  }

  std::string path_;
  CsvTable table_;
  std::vector<Seating> rows_;  ///< by rank
};

}  // namespace

std::vector<HostIndex> place_by_table(std::span<const PlatformHost> hosts, int ranks,
                                      const std::string& path) {
  return PlacementTable(path).place(hosts, static_cast<std::size_t>(ranks));
}

std::vector<HostIndex> place_some_by_table(std::span<const PlatformHost> hosts, int ranks,
                                           std::size_t on_node, const std::string& path) {
  PlacementTable table(path);
  table.thin(on_node);
  return table.place(hosts, static_cast<std::size_t>(ranks));
}

bool is_placement_table(const std::string& path) {
  std::istringstream file(read_text_if_any(path, kMostConfigBytes));
  for (std::string line; std::getline(file, line);) {
    if (is_content(line)) return line.substr(0, line.find('#')).find(',') != std::string::npos;
  }
  return false;
}

}  // namespace thinwire::topologies
