// Placements as tables, which job schedulers and benchmarks write: a CSV with a line for each rank.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// The hosts of the first `ranks` ranks of a CSV file, whose header has the columns rank and node in
/// any order, and may have group, switch and others. The lines of the ranks may have any order, but
/// each rank from 0 to the last has one line. What is beyond `ranks` is not placed.
///
///   By name: a node is a host of the platform, or a node of it (PlatformHost::node). The i-th of
///   the ranks on a node is on its i-th host, and begins again after the last.
///
///   By group and switch, where no node of the file is a host or a node of the platform, the
///   platform has groups (PlatformHost::group) and the file has the column group. In the order of
///   the ranks, the k-th distinct group of the file is the k-th group of the platform, the k-th
///   distinct switch of it the k-th access switch of the group, and the k-th distinct node of that
///   switch the k-th node there. A switch may be given as a place on a Cray EX, c6s7b1, which means the
///   switch of all boards 1 of chassis 6, c6b1. Without the column switch, and on platforms whose groups
///   have one access switch each, the nodes of a group fill its switches one after another.
///
///   In order, where no node of the file is a host or a node of the platform, and one of the two has
///   no groups: the k-th distinct node of the file is the k-th node of the platform.
///
/// Throws InputError naming file, line and column (in characters, from 1) of a header without rank
/// or node, a line with another number of fields, a rank that is no number, is twice there or is
/// missing, a node that is unknown or in two groups, and a group, switch or node that is one too
/// many for the platform; and TooFewHostsError likewise if there are fewer than `ranks` ranks.
[[nodiscard]] std::vector<HostIndex> place_by_table(std::span<const PlatformHost> hosts, int ranks,
                                                    const std::string& path);

/// The same for the first `on_node` of the file's ranks on each of its nodes, which are the ranks of
/// the run in the file's order.
[[nodiscard]] std::vector<HostIndex> place_some_by_table(std::span<const PlatformHost> hosts,
                                                         int ranks, std::size_t on_node,
                                                         const std::string& path);

/// Whether the first line of a file that is neither empty nor a comment has a comma, which a table
/// has and a list of hosts has not.
[[nodiscard]] bool is_placement_table(const std::string& path);

}  // namespace thinwire::topologies
