// Dense allreduces for nodes of several ranks, each of which carries its part between nodes.
//
//   hierarchical_ring         between nodes dense_ring
//   hierarchical_rabenseifner between nodes dense_rabenseifner
//
// Cho, Finkler, Serrano, Kung, Hunter, "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy" (MLSys 2019), with two levels: a reduce-scatter inside each node,
// an allreduce between nodes for each part, and an allgather inside each node. BlueConnect has rings
// inside nodes; here every rank exchanges its parts with every other one directly, which is as fast
// behind one switch, and faster where only two ranks of a node are busy.
//
// Schedule: algorithms/collectives/hierarchical.hpp. Node i has ranks [i g, (i + 1) g), as `block`
// placement puts them on hosts; the last may have fewer. g is the option `node`, by default the
// number of ranks on a node of the platform. There are as many rails as ranks on the smallest node.
// Cost, m = ceil(P/g) nodes:
//   reduce_scatter_in_node and allgather_in_node  (g - 1) (α + n/g β) each
//   along_rails                                   that of the flat scheme with m ranks and n/g words
// (with P for g if all ranks are in one node). In all 2n (P-1)/P β, as the flat schemes, of which
// only 2n (m-1)/(m g) per rank go between nodes.
// Exact with the added terms where g divides P and n, if the flat scheme is exact at m and n/g.
// Otherwise pieces differ by a word, or the ranks of the last node are early.
//
// Option `leader`: the first rank of each node, its leader, sums the whole gradient of the node by a
// binomial tree, the flat scheme runs among the leaders, and the result goes back through the tree
// (Jia et al., arXiv:1807.11205, 2018; the first hierarchical allreduce of Horovod, there with rings
// inside the groups). Cost: 2 ceil(log g) (α + nβ), and that of the flat scheme with m ranks and n
// words. It has fewer messages, for short gradients; one NIC of a node carries everything.
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 800, P = 8, node = 4, ring: 3 messages of 200 words inside the nodes, 2
// messages of 100 words between the 2 nodes, 3 of 200 words inside: 8 α + 1400 β. With leader=true: 2
// messages and 1600 words to the leaders, the same back, and 2 messages of 400 words among 2
// leaders: 6 α + 4000 β. Flat: 14 α + 1400 β.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> hierarchical_schemes();

}  // namespace thinwire::algorithms
