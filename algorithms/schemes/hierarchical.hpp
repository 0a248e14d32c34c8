// Dense allreduces for nodes of several ranks: inside a node a binomial tree to its leader and
// back, among the leaders a flat allreduce.
//
//   hierarchical_ring         among leaders dense_ring
//   hierarchical_rabenseifner among leaders dense_rabenseifner
//
// Jia et al., "Highly scalable deep learning training system with mixed-precision: training
// ImageNet in four minutes" (arXiv:1807.11205, 2018), section on hierarchical all-reduce, there
// with rings inside the groups, 4 (g - 1) + 2 (P/g - 1) steps for groups of g; and the first
// hierarchical allreduce of Horovod (2018). Here g is the option `node`, and trees make it
// 2 ceil(log g) + 2 (P/g - 1) steps.
//
// Schedule: algorithms/collectives/hierarchical.hpp. Node i has ranks [i g, (i + 1) g), as `block`
// placement puts them on hosts; the last may have fewer.
// Cost, m = ceil(P/g) nodes:
//   reduce_in_node and broadcast_in_node  ceil(log g) (α + nβ) each
//   among_leaders                         that of the flat scheme with m ranks
// (with P for g where all ranks are in one node). On one level of network this loses to the flat
// schemes for long gradients, since the whole gradient moves 2 ceil(log g) times; it pays where a
// node is much faster inside, or where 2 (m - 1) messages instead of 2 (P - 1) matter.
// Exact once the lower-order terms are added wherever the flat scheme is at m and the last node's
// tree is as high as the others'. Else the last leader is ready too early, and its first message
// may come to another leader's port between those of that one's node: on the ring that is up to one
// message more; rabenseifner falls out of step, as it does where ranks fold in, and may take up to
// its low end once more (found, not proven).
// Restrictions: none. Memory: n words a rank, the result shared by all ranks of the simulation.
//
// Worked example: n = 800, P = 8, node = 4, ring: 2 messages and 1600 words to the leaders, as much
// back, and 2 messages of 400 words among 2 leaders: 6 α + 4000 β. Flat: 14 α + 1400 β.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> hierarchical_schemes();

}  // namespace thinwire::algorithms
