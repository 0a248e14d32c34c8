// Which host each rank runs on.
//
//   block         rank r on host r
//   round_robin   the first host of every node, then the second of every node, and so on
//   per_node:T    T ranks on the first node, T on the second, and so on. Those of a node are on its
//                 hosts one after another, and begin again after the last: they share its port
//   per_node:T@F  T ranks on each node of the CSV table F, where the table has its first T ranks of
//                 the node
//   random:SEED   a shuffle of the hosts, the same for the same seed
//   a file        one host a line, rank 0 first; '#' starts a comment. A host may come several
//                 times: its ranks share its port. What has a '/' or a '.' is taken for a file.
//                 A file with commas is a CSV table of ranks and nodes: placement_table.hpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// The host of each of `ranks` ranks. Throws TooFewHostsError where there are fewer hosts than
/// ranks, and InputError for a placement or a host that nobody knows.
[[nodiscard]] std::vector<HostIndex> place(std::span<const PlatformHost> hosts, int ranks,
                                           const std::string& placement);

/// The file that a placement reads; empty if it reads none.
[[nodiscard]] std::string placement_file(const std::string& placement);
/// Whether a placement is a file, which names hosts.
[[nodiscard]] bool is_placement_file(const std::string& placement);

/// Throws InputError for what is none of the above; a file is not opened.
void check_placement(const std::string& placement);

}  // namespace thinwire::topologies
