// Exports a platform's graph to other programs.
#pragma once

#include <string>

#include "topologies/analysis/graph.hpp"

namespace thinwire::topologies {

/// Graphviz, for `dot`, `neato` and `sfdp`: one arc for each direction of a link, labelled with its
/// bandwidth and latency; hosts are boxes.
[[nodiscard]] std::string to_dot(const PlatformGraph& platform);

/// GraphML: vertices with name, kind and node, edges with link, bandwidth_Bps, latency_s and
/// fat_pipe.
[[nodiscard]] std::string to_graphml(const PlatformGraph& platform);

}  // namespace thinwire::topologies
