#include "topologies/loading/placement_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"

namespace thinwire::topologies {

namespace {

/// A part of a line.
struct Field {
  std::string text;
  std::size_t line = 0;
  std::size_t column = 0;  ///< of its first character, from 1
};

struct TableRow {
  std::uint32_t rank = 0;
  Field rank_field;
  Field node;
  std::optional<Field> group;
  std::optional<Field> access;
};

/// Fields without the blanks around them.
std::vector<Field> fields_of(const std::string& text, std::size_t line) {
  std::vector<Field> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::size_t first = begin;
    std::size_t last = end;
    const auto blank = [&](std::size_t at) {
      return text[at] == ' ' || text[at] == '\t' || text[at] == '\r';
    };
    while (first < last && blank(first)) ++first;
    while (last > first && blank(last - 1)) --last;
    fields.push_back({.text = text.substr(first, last - first), .line = line, .column = first + 1});
    begin = end + 1;
  }
  return fields;
}

bool is_content(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string::npos && line[first] != '#';
}

class PlacementTable {
 public:
  explicit PlacementTable(std::string path) : path_(std::move(path)) { read(); }

  std::vector<HostIndex> place(std::span<const PlatformHost> hosts, std::size_t ranks) {
    if (rows_.size() < ranks) {
      const Field& last = rows_.empty() ? header_ : rows_.back().rank_field;
      throw TooFewHostsError(fmt::format("{}: places {} ranks, fewer than the {} of the run",
                                         at(last), rows_.size(), ranks));
    }
    rows_.resize(ranks);
    std::unordered_map<std::string, std::vector<HostIndex>> by_name;
    bool groups = true;
    for (HostIndex host = 0; host < hosts.size(); ++host) {
      by_name[hosts[host].node].push_back(host);
      groups = groups && hosts[host].group != PlatformHost::kNoGroup;
    }
    for (HostIndex host = 0; host < hosts.size(); ++host) by_name[hosts[host].name] = {host};
    const bool strange = std::ranges::none_of(
        rows_, [&](const TableRow& row) { return by_name.contains(row.node.text); });
    const bool grouped = !rows_.empty() && rows_.front().group.has_value();
    return strange && groups && grouped ? place_by_group(hosts) : place_by_name(hosts, by_name);
  }

 private:
  [[nodiscard]] std::string at(const Field& field) const {
    return fmt::format("{}:{}:{}", path_, field.line, field.column);
  }
  [[noreturn]] void refuse(const Field& field, const std::string& why) const {
    throw InputError(at(field) + ": " + why);
  }

  void read() {
    std::ifstream file(path_);
    if (!file) throw InputError(fmt::format("{}: cannot be read as a placement file", path_));
    std::vector<std::string> names;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
      if (!is_content(line)) continue;
      const std::vector<Field> fields = fields_of(line, number);
      if (names.empty()) {
        read_header(fields, names);
      } else {
        read_row(fields, names);
      }
    }
    if (file.bad()) throw InputError(fmt::format("{}: cannot be read as a placement file", path_));
    // Of two with one rank, the later line is refused.
    std::ranges::stable_sort(rows_, {}, &TableRow::rank);
    for (std::uint32_t rank = 0; rank < rows_.size(); ++rank) {
      const TableRow& row = rows_[rank];
      if (row.rank == rank) continue;
      refuse(row.rank_field,
             row.rank < rank
                 ? fmt::format("rank {} is there twice", row.rank)
                 : fmt::format("rank {} is there, and rank {} is missing", row.rank, rank));
    }
  }

  void read_header(const std::vector<Field>& fields, std::vector<std::string>& names) {
    header_ = fields.front();
    for (const Field& field : fields) {
      if (std::ranges::find(names, field.text) != names.end()) {
        refuse(field, fmt::format("the column '{}' is there twice", field.text));
      }
      names.push_back(field.text);
    }
    for (const char* wanted : {"rank", "node"}) {
      if (std::ranges::find(names, wanted) == names.end()) {
        refuse(header_, fmt::format("the header has no column '{}'; a table of ranks has the "
                                    "columns rank and node, and may have group and switch",
                                    wanted));
      }
    }
  }

  void read_row(const std::vector<Field>& fields, const std::vector<std::string>& names) {
    if (fields.size() != names.size()) {
      refuse(fields.size() > names.size() ? fields[names.size()] : fields.back(),
             fmt::format("{} fields, and the header has {}", fields.size(), names.size()));
    }
    TableRow row;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      const std::string& name = names[i];
      if (name != "rank" && name != "node" && name != "group" && name != "switch") continue;
      if (field.text.empty()) refuse(field, fmt::format("the {} is empty", name));
      if (name == "rank") {
        const auto rank = parse_number<std::uint32_t>(field.text);
        if (!rank) {
          refuse(field, fmt::format("rank '{}': expected a whole number from 0", field.text));
        }
        row.rank = *rank;
        row.rank_field = field;
      }
      if (name == "node") row.node = field;
      if (name == "group") row.group = field;
      if (name == "switch") row.access = field;
    }
    rows_.push_back(std::move(row));
  }

  std::vector<HostIndex> place_by_name(
      std::span<const PlatformHost> hosts,
      const std::unordered_map<std::string, std::vector<HostIndex>>& by_name) const {
    std::vector<HostIndex> placed;
    std::unordered_map<std::string_view, std::size_t> ranks_on;
    for (const TableRow& row : rows_) {
      const auto found = by_name.find(row.node.text);
      if (found == by_name.end()) refuse_node(hosts, row);
      placed.push_back(found->second[ranks_on[row.node.text]++ % found->second.size()]);
    }
    return placed;
  }

  [[noreturn]] void refuse_node(std::span<const PlatformHost> hosts, const TableRow& row) const {
    std::vector<std::string> names;
    for (const PlatformHost& host : hosts) {
      names.push_back(host.name);
      if (host.node != host.name && (names.size() < 2 || names[names.size() - 2] != host.node)) {
        names.push_back(host.node);
      }
    }
    std::string hint = did_you_mean(row.node.text, names);
    if (names.size() > 8 && hint.starts_with("; known")) {
      hint = fmt::format("; the {} hosts run from '{}' to '{}'", hosts.size(), hosts.front().name,
                         hosts.back().name);
    }
    refuse(row.node, fmt::format("unknown host '{}'{}", row.node.text, hint));
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
    for (const TableRow& row : rows_) {
      Seat& seat = seats[row.node.text];
      if (seat.hosts == nullptr) {
        seat.group = row.group->text;
        const std::size_t group = groups(row.group->text);
        if (group >= nodes.size()) {
          refuse(*row.group, fmt::format("group '{}' is one too many: the platform has {} groups",
                                         row.group->text, nodes.size()));
        }
        seat.hosts = row.access && !one_switch
                         ? &on_switch(nodes, group, switches[group], used, row)
                         : &in_group(nodes, group, used, row);
      }
      if (seat.group != row.group->text) {
        refuse(*row.group, fmt::format("node '{}' is in group '{}' and in group '{}'",
                                       row.node.text, seat.group, row.group->text));
      }
      placed.push_back((*seat.hosts)[seat.ranks++ % seat.hosts->size()]);
    }
    return placed;
  }

  /// The next node on the switch that a row names.
  const std::vector<HostIndex>& on_switch(const Nodes& nodes, std::size_t group,
                                          Numbering& switches, Used& used,
                                          const TableRow& row) const {
    const std::size_t access = switches(row.access->text);
    if (access >= nodes[group].size()) {
      refuse(*row.access,
             fmt::format("switch '{}' is one too many in group '{}': a group of the platform has "
                         "{} switches",
                         row.access->text, row.group->text, nodes[group].size()));
    }
    const auto& of_switch = nodes[group][access];
    std::size_t& next = used[{group, access}];
    if (next == of_switch.size()) {
      refuse(row.node,
             fmt::format("node '{}' is one too many on switch '{}' of group '{}': a switch of the "
                         "platform has {} nodes",
                         row.node.text, row.access->text, row.group->text, of_switch.size()));
    }
    return of_switch[next++];
  }

  /// The next node of the group that a row names.
  const std::vector<HostIndex>& in_group(const Nodes& nodes, std::size_t group, Used& used,
                                         const TableRow& row) const {
    std::size_t all = 0;
    for (std::size_t access = 0; access < nodes[group].size(); ++access) {
      std::size_t& next = used[{group, access}];
      if (next < nodes[group][access].size()) return nodes[group][access][next++];
      all += next;
    }
    refuse(row.node, fmt::format("node '{}' is one too many in group '{}': a group of the platform "
                                 "has {} nodes",
                                 row.node.text, row.group->text, all));
  }

  std::string path_;
  Field header_;
  std::vector<TableRow> rows_;  ///< by rank
};

}  // namespace

std::vector<HostIndex> place_by_table(std::span<const PlatformHost> hosts, int ranks,
                                      const std::string& path) {
  return PlacementTable(path).place(hosts, static_cast<std::size_t>(ranks));
}

bool is_placement_table(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (is_content(line)) return line.substr(0, line.find('#')).find(',') != std::string::npos;
  }
  return false;
}

}  // namespace thinwire::topologies
